"""The log when it cannot be written."""

import errno
import io
import logging
from types import SimpleNamespace

import pytest

from fcn.controller import logs


class FullDisk(io.StringIO):
    """Fails to write while `full`."""

    full = False

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def test_a_full_disk_ends_nobody_who_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    # Neither the root logger nor sys.stderr: other tests' threads use those, too.
    disk, log = FullDisk(), logging.Logger("fcn.test")
    monkeypatch.setattr(logs, "sys", SimpleNamespace(stderr=disk))
    handler = logs._StandardError()
    handler.setFormatter(logs.KeyValueFormatter())
    log.addHandler(handler)
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


def test_logs_are_quiet_for_a_while_only(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("fcn")
    with logs.quiet_logs():
        log.warning("meanwhile")
    log.warning("afterwards")
    assert [record.message for record in caplog.records] == ["afterwards"]
