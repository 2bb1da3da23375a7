"""Compile a host's C program once and cache it by content."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from fcn.contract.sanitizers import SANITIZERS

FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Werror")


class BuildError(RuntimeError):
    """The C compiler is missing or failed; the message holds its output."""


def cache_directory() -> Path:
    """Where compiled programs are kept: $XDG_CACHE_HOME/fcn or ~/.cache/fcn."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "fcn"


def compile_cached(
    name: str,
    sources: list[Path],
    *,
    sanitize: bool = False,
    extra_flags: tuple[str, ...] = (),
    headers_in: tuple[Path, ...] = (),
) -> Path:
    """Compile C sources into one program or, with `-shared`, one library and return its path.

    The result is cached by the content of `sources`, all headers beside them and in `headers_in`,
    and the flags, so a second call with the same input only looks it up. Raises BuildError.
    """
    flags = FLAGS + extra_flags + (SANITIZERS if sanitize else ())
    compiler = os.environ.get("CC", "cc")
    digest = hashlib.sha256(" ".join((compiler, *flags)).encode())
    folders = sorted({source.parent for source in sources} | set(headers_in))
    headers = {header for folder in folders for header in folder.glob("*.h")}
    for path in (*sources, *sorted(headers)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    target = cache_directory() / f"{name}-{digest.hexdigest()[:16]}" / name
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        built = Path(scratch) / name
        includes = [f"-I{folder}" for folder in folders]
        command = [compiler, *flags, *includes, "-o", str(built), *map(str, sources), "-lm"]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise BuildError(f"no C compiler '{compiler}': install gcc or set CC") from error
        if result.returncode != 0:
            raise BuildError(f"{' '.join(command)} failed:\n{result.stderr}")
        built.replace(target)
    return target
