"""The log when it cannot be written."""

import errno
import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fcn.controller.logs import LogLevel, configure_logs


class FullDisk(io.StringIO):
    """Fails to write while `full`."""

    full = False

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


@contextmanager
def logging_to(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`fcn run`'s log goes there; pytest's own handlers are back afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers = []
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        configure_logs(LogLevel.INFO, as_json=False)
        try:
            yield
        finally:
            root.handlers, root.level = handlers, level


def test_a_full_disk_ends_nobody_who_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    disk, log = FullDisk(), logging.getLogger("fcn.test")
    with logging_to(disk, monkeypatch):
        log.info("before")
        disk.full = True
        log.info("first lost")
        log.info("second lost")
        disk.full = False
        log.info("after")
    assert [line.partition("fcn.test: ")[2] for line in disk.getvalue().splitlines()] == [
        "before",
        "2 messages before could not be written to the log",
        "after",
    ]
