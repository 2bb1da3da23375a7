"""Temporary folders that do not stay when their process is killed."""

import contextlib
import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def scratch_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A temporary folder, removed at the end; so are those that killed processes left before.
    `parent`: where it is, by default that of temporary files.

    A folder in use is locked by its process (flock), and the kernel ends the lock with the process.
    """
    parent = parent or Path(tempfile.gettempdir())
    _remove_unused(prefix, parent)
    folder, descriptor = _locked_folder(prefix, parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _locked_folder(prefix: str, parent: Path) -> tuple[Path, int]:
    """A new folder and the open descriptor that locks it. Before it is locked, another process may
    take it for one that was left, and remove it: then it is made again."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            # Where a file system has no locks, nothing that was left there is removed.
            with contextlib.suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if folder.exists():
                return folder, descriptor
            os.close(descriptor)


@contextlib.contextmanager
def locked(file: Path, taken: Exception) -> Iterator[None]:
    """Hold the lock of a file, which is made; raises `taken` where another process holds it."""
    with file.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise taken from None
        yield


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A file to write, which is in the place of `file` at the end, whole or not at all. Nothing is
    written through a link that somebody put there. Raises OSError."""
    with scratch_folder(f".{file.name}-", file.parent) as beside:
        new = beside / "new"
        yield new
        new.replace(file)


def _remove_unused(prefix: str, parent: Path) -> None:
    remove_left(f"{glob.escape(prefix)}*", parent)


def remove_left(pattern: str, parent: Path) -> None:
    """Remove the folders of scratch_folder() there, whose names match, that killed processes
    left."""
    for folder in parent.glob(pattern):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
