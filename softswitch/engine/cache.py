"""The folder of compiled programs: code in it is run, so nobody else may write to it."""

import os
import stat
from pathlib import Path

from fcn.softswitch.engine.errors import BuildError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MODE = 0o700


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
    return directory


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
