"""Two folders change places in one step, which no signal and no crash can cut in half."""

import errno
import os
from functools import cache
from pathlib import Path
from typing import Any

import cffi

_AT_FDCWD = -100  # fcntl.h of Linux
_RENAME_EXCHANGE = 2  # linux/fs.h
_NOT_HERE = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}


def exchange(one: Path, other: Path) -> bool:
    """Give each of two folders of one file system the other's name (renameat2(2)). False where the
    kernel or the file system cannot do that. Raises OSError."""
    ffi, libc = _libc()
    names = [ffi.new("char[]", os.fsencode(path)) for path in (one, other)]
    if libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    if ffi.errno in _NOT_HERE:
        return False
    raise OSError(ffi.errno, os.strerror(ffi.errno), str(one), None, str(other))


@cache
def _libc() -> tuple[Any, Any]:
    ffi = cffi.FFI()
    ffi.cdef("int renameat2(int, const char *, int, const char *, unsigned int);")
    return ffi, ffi.dlopen(None)
