"""Who changed what: one line of JSON for each call that changes something, in a file that may be
rotated at any time, and in the log."""

import errno
import json
import logging
import os
import stat
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

LOG = logging.getLogger("fcn.audit")

MODE = 0o640

LONGEST = 256
"""Characters of a text that a client chose."""

KEPT = 1_000
"""Lines that wait for a disk with room; while one waits, no call may change anything, so that what
comes later was refused."""


class AuditError(Exception):
    """The file cannot be written; the message says why and what to do."""


class AuditLog:
    """Appends to `file`; without one, lines go to the log alone."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._waiting: list[bytes] = []

    def check(self) -> None:
        """Raise AuditError where the next line could not be written."""
        if self._file is not None:
            self._append(b"")

    def tell(self, **fields: object) -> None:
        """Note what was done. What cannot be written now is written first, before anything else is
        changed."""
        moment = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds")
        text = json.dumps({"time": moment, **{key: cut(value) for key, value in fields.items()}})
        LOG.info("%s", text)
        if self._file is None:
            return
        try:
            self._append(text.encode() + b"\n")
        except AuditError as error:
            LOG.error("%s", error)

    def _append(self, line: bytes) -> None:
        if line and len(self._waiting) < KEPT:
            self._waiting.append(line)
        assert self._file is not None
        try:
            # Opened for each line: whoever rotates it needs to tell nobody.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._file, flags | os.O_CLOEXEC, MODE)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise AuditError(f"{self._file} is no file; name another as `audit`")
                while self._waiting:
                    _write_whole(descriptor, self._waiting[0])
                    del self._waiting[0]
            finally:
                os.close(descriptor)
        except OSError as error:
            raise AuditError(
                f"cannot write the audit log {self._file}: {error.strerror}; nothing is changed "
                "until it can be written"
            ) from None


def _write_whole(descriptor: int, line: bytes) -> None:
    """A line, or nothing of it: half of one would spoil the next. Raises OSError."""
    before = os.fstat(descriptor).st_size
    written = os.write(descriptor, line)
    if written != len(line):
        os.ftruncate(descriptor, before)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def cut(value: object) -> object:
    """A value with its texts as long as they may be."""
    match value:
        case str():
            return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
        case Mapping():
            return {str(key): cut(each) for key, each in value.items()}
        case list():
            return [cut(each) for each in value[:16]]
    return value
