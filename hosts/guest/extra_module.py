"""The guest's additional kernel module, compiled against Debian's headers for its kernel."""

import shutil
from pathlib import Path

from fcn.hosts.processes import run

SOURCE = Path(__file__).with_name("rxe_cnp.c")
TOOLS = ("gcc-12", "make")
"""The compiler of Debian's kernel."""
HEADERS = "usr/src"


class BuildError(RuntimeError):
    """The module does not compile; the message holds the compiler's output."""


def build(root: Path, release: str, scratch: Path) -> Path:
    """Compile SOURCE with the header packages unpacked below `root`; the .ko is in `scratch`."""
    headers = root / HEADERS
    makefile = headers / f"linux-headers-{release}" / "Makefile"
    # It includes the common headers' Makefile by the path of an installed package.
    makefile.write_text(makefile.read_text().replace(f"/{HEADERS}/", f"{headers.absolute()}/"))
    work = scratch / SOURCE.stem
    work.mkdir()
    shutil.copy2(SOURCE, work)
    (work / "Kbuild").write_text(f"obj-m := {SOURCE.stem}.o\n")
    command = ["make", "-C", str(makefile.parent), f"M={work.absolute()}", "modules"]
    run(command, error=BuildError)
    return work / f"{SOURCE.stem}.ko"
