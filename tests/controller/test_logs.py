"""The log when it cannot be written."""

import errno
import io
import json
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


def test_what_a_switch_sends_does_not_fill_the_disk() -> None:
    """finsy says all of every message that it cannot use."""
    now, told = 0.0, io.StringIO()
    log = logging.Logger("finsy.test")
    log.addFilter(logs._Bounded(lambda: now).filter)
    log.addHandler(logging.StreamHandler(told))
    for _ in range(2):
        for switch in ("pe1", "pe2"):
            for number in range(100):
                log.warning(f"[{switch}|Switch._run&] packet ignored: %r", bytes(1 << 16))
                log.error(f"[{switch}|Switch._run&] unknown update %r", f"100% {number}")
        now += logs.FINSY_INTERVAL
    lines = told.getvalue().splitlines()
    assert len(lines) == 2 * 2 * 2 * logs.FINSY_LIMIT
    assert max(map(len, lines)) < logs.FINSY_LONGEST + 100
    assert sum("90 more that were not told" in line for line in lines) == 2 * 2
    assert "[pe1|Switch._run&] unknown update '100% 0'" in lines


FORGED = "mlx5_0\n2026-01-31T12:00:00.000 INFO fcn: pe1 is up\r\x1b[2J\x7f\x9b\u2028\u202e\ud800"
AS_JSON = r"mlx5_0\n2026-01-31T12:00:00.000 INFO fcn: pe1 is up\r\u001b[2J\u007f\u009b"
AS_JSON += r"\u2028\u202e\ud800"


def _record(message: str, device: str, error: Exception | None = None) -> logging.LogRecord:
    record = logging.makeLogRecord({"msg": message, "device": device, "name": "fcn"})
    record.exc_info = (type(error), error, None) if error else None
    return record


def test_what_hosts_say_forges_no_line() -> None:
    """Neither in the message nor in a field, with blanks or without, nor in a traceback."""
    text = logs.KeyValueFormatter().format(_record(FORGED, FORGED))
    assert text.isprintable()
    assert text.partition("fcn: ")[2] == f'{AS_JSON} device="{AS_JSON}"'
    assert logs.KeyValueFormatter().format(_record("é 漢", "a\nb")).endswith(r"é 漢 device=a\nb")
    first, *others = (
        logs.KeyValueFormatter().format(_record("", "", ValueError(FORGED))).split("\n")
    )
    assert first.isprintable()
    assert all(line.isprintable() and line.startswith("    ") for line in others)


def test_json_lines_keep_what_was_said() -> None:
    line = logs.JsonFormatter().format(_record(FORGED, "é"))
    assert line.isprintable()
    assert "é" in line
    assert json.loads(line)["message"] == FORGED
