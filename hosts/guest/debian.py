"""Debian packages extracted into a directory, without installing them.

Only apt and dpkg are used, so packages are authenticated as the machine is configured to.
"""

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

KERNEL_METAPACKAGE = "linux-image-amd64"


class PackageError(RuntimeError):
    """A package cannot be downloaded or installed; the message holds the output of apt or dpkg."""


def kernel_package() -> str:
    """Name of the kernel image package that Debian's metapackage depends on at the moment."""
    shown = _run(["apt-cache", "show", "--no-all-versions", KERNEL_METAPACKAGE])
    found = re.search(r"^Depends: (linux-image-\S+)", shown, re.MULTILINE)
    if not found:
        raise PackageError(
            f"{KERNEL_METAPACKAGE} names no kernel; run apt-get update, or is this not Debian?"
        )
    return found.group(1)


def header_packages(kernel: str) -> tuple[str, ...]:
    """Header packages for compiling a module for `kernel`, without the compiler."""
    headers = kernel.replace("linux-image-", "linux-headers-")
    shown = _run(["apt-cache", "show", "--no-all-versions", headers])
    found = re.findall(r"linux-headers-\S+-common|linux-kbuild-\S+", shown)
    return (headers, *sorted(set(found)))


def download(packages: Sequence[str], into: Path) -> None:
    """Download `packages` into the new directory `into`, which appears when all are there."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent) as scratch:
        complete = Path(scratch) / "complete"
        complete.mkdir()
        _run(["apt-get", "download", "-qq", *packages], complete)
        # Of two concurrent downloads the second to finish keeps the first's directory.
        if not into.exists():
            complete.rename(into)


def unpack(archives: Path, root: Path) -> None:
    """Extract every package in `archives` below `root`."""
    for archive in sorted(archives.glob("*.deb")):
        _run(["dpkg", "-x", str(archive), str(root)])


def install(packages: Sequence[str]) -> None:
    """Install `packages` on this machine unless they are there; needs root only then."""
    missing = [name for name in packages if not _installed(name)]
    if missing:
        _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing])


def _installed(package: str) -> bool:
    done = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout == "installed"


def _run(command: list[str], directory: Path | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=directory,
        env={"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise PackageError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout
