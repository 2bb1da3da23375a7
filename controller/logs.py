"""Structured logs on standard error: key=value text or JSON lines."""

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from fcn.controller.clock import SYSTEM_CLOCK
from fcn.controller.throttle import Throttle

FINSY_LIMIT, FINSY_INTERVAL, FINSY_LONGEST = 10, 60.0, 2000
"""Warnings, seconds, and characters (_Bounded)."""


class LogLevel(StrEnum):
    """The least severe records that are shown."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def escaped(text: str) -> str:
    """Text as one line that a terminal prints as it is: what hosts and switches say may have line
    ends, with which it would look like a line of its own, or commands to the terminal. Each such
    character is written as in JSON."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else json.dumps(each)[1:-1].replace("\x7f", "\\u007f")
        for each in text
    )


_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """What the caller passed as `extra`."""
    return {key: value for key, value in record.__dict__.items() if key not in _STANDARD}


class KeyValueFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.123 INFO fcn.event: text key=value key="two words"`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; those of a traceback are indented, as its exception may quote anything."""
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(record.created))
        line = (
            f"{seconds}.{record.msecs:03.0f} {record.levelname} {record.name}: "
            f"{record.getMessage()}"
        )
        for key, value in _fields(record).items():
            text = str(value)
            quoted = not text or " " in text or '"' in text or "=" in text
            line += f" {key}={json.dumps(text, ensure_ascii=False) if quoted else text}"
        line = escaped(line)
        if record.exc_info:
            trace = self.formatException(record.exc_info).splitlines()
            line += "".join(f"\n    {escaped(each)}" for each in trace)
        return line


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message and the fields."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; a traceback is the field `traceback`."""
        data: dict[str, object] = {
            "time": record.created,
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **{key: str(value) for key, value in _fields(record).items()},
        }
        if record.exc_info:
            data["traceback"] = self.formatException(record.exc_info)
        return escaped(json.dumps(data, ensure_ascii=False))


class _StandardError(logging.Handler):
    """Writes to what is sys.stderr at the time: a progress bar takes it over while it is shown.

    Where that fails, as on a full disk or a pipe nobody reads any more, the record is lost and the
    caller goes on; the next that can be written says how many were.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lost = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self._lost:
                text = "%d messages before could not be written to the log"
                lost = (record.name, logging.WARNING, "", 0, text, (self._lost,), None)
                print(self.format(logging.LogRecord(*lost)), file=sys.stderr, flush=True)
                self._lost = 0
            print(self.format(record), file=sys.stderr, flush=True)
        except (OSError, ValueError):
            # ValueError: the stream is closed.
            self._lost += 1


def _concerns_us(record: logging.LogRecord) -> bool:
    """False for finsy's warning that gNMI is missing: neither BMv2 nor the softswitch implements
    it, and the controller does not use it."""
    return "gNMI is not implemented" not in record.getMessage()


def configure_logs(level: LogLevel, *, as_json: bool) -> None:
    """Log records of at least `level` (debug, info, warning or error) to standard error."""
    handler = _StandardError()
    handler.setFormatter(JsonFormatter() if as_json else KeyValueFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # finsy logs every channel change at INFO; the events of the nodes report the same changes.
    finsy_log = logging.getLogger("finsy")
    finsy_log.setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    finsy_log.addFilter(_concerns_us)
    bounded = _Bounded(SYSTEM_CLOCK.monotonic)
    # A filter is not for the loggers below.
    for name in ("finsy", "finsy.msg"):
        logging.getLogger(name).addFilter(bounded.filter)


class _Bounded:
    """Of each warning of finsy FINSY_LIMIT in FINSY_INTERVAL, and no more than FINSY_LONGEST
    characters: it says what a switch has sent, each time, as a whole."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._throttle: Throttle[tuple[str, str, int]] = Throttle(
            clock, FINSY_LIMIT, FINSY_INTERVAL
        )

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to tell it; shortens it."""
        if record.levelno < logging.WARNING:
            return True
        # Its text begins with the switch and task in brackets.
        task = str(record.msg).partition("]")[0]
        unsaid = self._throttle.admit((task, record.pathname, record.lineno))
        if unsaid is None:
            return False
        text = record.getMessage()
        more = f" (and {unsaid} more that were not told)" if unsaid else ""
        cut = f"{text[:FINSY_LONGEST]}…" if len(text) > FINSY_LONGEST else text
        record.msg, record.args = cut + more, None
        return True


@contextmanager
def quiet_logs(level: int = logging.ERROR) -> Iterator[None]:
    """Nothing below `level` meanwhile, nor below the level before: a controller in virtual time
    logs times of its own."""
    logs = [logging.getLogger(name) for name in ("fcn", "finsy")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(max(level, log.level))
    try:
        yield
    finally:
        for log, before in zip(logs, levels, strict=True):
            log.setLevel(before)
