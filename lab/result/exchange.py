"""Two folders change places in one step, which no signal and no crash can cut in half."""

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100  # fcntl.h of Linux
_RENAME_EXCHANGE = 2  # linux/fs.h
_NOT_HERE = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


def exchange(one: Path, other: Path) -> bool:
    """Give each of two folders of one file system the other's name (renameat2(2)). False where the
    kernel or the file system cannot do that. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))
