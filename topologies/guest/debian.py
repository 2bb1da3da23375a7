"""Debian packages taken apart into a directory, without installing them.

Only apt and dpkg are used, so what arrives is what the machine's own sources sign.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

KERNEL_METAPACKAGE = "linux-image-amd64"


class PackageError(RuntimeError):
    """A package cannot be had; the message holds what apt or dpkg said."""


def kernel_package() -> str:
    """Name of the kernel image package that Debian's metapackage stands for at the moment."""
    shown = _run(["apt-cache", "show", "--no-all-versions", KERNEL_METAPACKAGE])
    found = re.search(r"^Depends: (linux-image-\S+)", shown, re.MULTILINE)
    if not found:
        raise PackageError(
            f"{KERNEL_METAPACKAGE} names no kernel; run apt-get update, or is this not Debian?"
        )
    return found.group(1)


def unpack(packages: Sequence[str], downloads: Path, root: Path) -> None:
    """Download `packages` into `downloads` and extract them below `root`."""
    downloads.mkdir(parents=True, exist_ok=True)
    _run(["apt-get", "download", "-qq", *packages], downloads)
    for archive in sorted(downloads.glob("*.deb")):
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
