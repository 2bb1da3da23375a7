"""Messages of a switch that could not be handled: counted, logged with what was in them."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from finsy.p4client import P4ClientError

LOG = logging.getLogger("fcn.node")

LOG_INTERVAL = 10.0
"""Seconds between log entries about the same kind of message of one switch."""


class Failures:
    """Failed messages of one switch by kind; a failure never ends what reads the messages.

    Customers cause these messages, so that none of them may end a session or a loop. `clock`
    returns seconds and never goes back.
    """

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self.counts: Counter[str] = Counter()
        self._due: dict[str, float] = {}

    @contextmanager
    def survived(self, kind: str, message: object) -> Iterator[None]:
        """Handle a message in this context. `message` is what the log shows of it.

        A lost connection (P4ClientError) is no failure of the message, and goes on.
        """
        try:
            yield
        except P4ClientError:
            raise
        except Exception:
            self.counts[kind] += 1
            now = self._clock()
            if now >= self._due.get(kind, now):
                self._due[kind] = now + LOG_INTERVAL
                count = self.counts[kind]
                LOG.exception(
                    "%s: cannot handle a %s (%d so far): %s", self._name, kind, count, message
                )
