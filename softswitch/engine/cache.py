"""The folder of compiled programs: code in it is run, so nobody else may write to it."""

import contextlib
import os
import stat
from pathlib import Path

from fcn.softswitch.engine.errors import BuildError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MODE = 0o700
KEPT = 512
"""Built programs, of 0.1 to 1 MiB each; of more, those not used for longest are removed."""


def cache_dir() -> Path:
    """Where built programs are kept: XDG_CACHE_HOME/fcn/softswitch, ~/.cache by default."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "fcn" / "softswitch"


def open_cache() -> Path:
    """The folder, made where it is missing; BuildError when others can change what is in it."""
    directory = cache_dir()
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir(mode=MODE, exist_ok=True)
        found = directory.lstat()
    except OSError as error:
        raise unusable(directory, error) from error
    _check(directory, found, stat.S_ISDIR(found.st_mode))
    _check_parents(directory)
    return directory


def make_room(directory: Path) -> None:
    """Remove what is above KEPT. A process that has loaded it keeps it."""
    built: list[tuple[int, Path]] = []
    for suffix in ("*.so", "*.o"):
        for file in directory.glob(suffix):
            with contextlib.suppress(FileNotFoundError):
                built.append((file.stat().st_mtime_ns, file))
    for _, file in sorted(built)[:-KEPT]:
        file.unlink(missing_ok=True)
        file.with_suffix(".lock").unlink(missing_ok=True)


def unusable(directory: Path, error: OSError) -> BuildError:
    """The error of a folder that nothing can be written to."""
    return BuildError(
        f"cannot keep the built program in {directory}: {error.strerror}; make room there or "
        "make it writable, or start the switch with XDG_CACHE_HOME set to another place"
    )


def check_cached(library: Path) -> bool:
    """Whether a library is there; BuildError unless it and its folder are only ours to write."""
    try:
        found = library.lstat()
    except FileNotFoundError:
        return False
    folder = library.parent.lstat()
    _check(library.parent, folder, stat.S_ISDIR(folder.st_mode))
    _check(library, found, stat.S_ISREG(found.st_mode))
    return True


def _check_parents(directory: Path) -> None:
    """Whoever can rename a folder above can put another in its place."""
    for parent in directory.resolve().parents:
        found = parent.stat()
        shared = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        if shared or found.st_uid not in (0, os.geteuid()):
            raise BuildError(
                f"{parent} belongs to user {found.st_uid} or can be written by all, who could "
                f"replace {directory}, and code in it would be run; name another folder in "
                "XDG_CACHE_HOME"
            )


def _check(path: Path, found: os.stat_result, is_kind: bool) -> None:
    if not is_kind:
        raise BuildError(f"{path} is a link or of another kind; remove it")
    if found.st_uid != os.geteuid():
        raise BuildError(
            f"{path} belongs to user {found.st_uid}, this is user {os.geteuid()}, and code in it "
            "would be run; remove it, or name another folder in XDG_CACHE_HOME"
        )
    if found.st_mode & _OTHERS_WRITE:
        raise BuildError(
            f"{path} can be written by others (mode {stat.S_IMODE(found.st_mode):o}), and code in "
            f"it would be run; remove it, or `chmod go-w {path}` if you trust what is in it"
        )
