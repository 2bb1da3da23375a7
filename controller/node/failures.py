"""Messages of a switch that could not be handled: counted, logged with what was in them."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from finsy.p4client import P4ClientError

from fcn.controller.throttle import Throttle

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
        self.counts: Counter[str] = Counter()
        self._throttle: Throttle[str] = Throttle(clock, 1, LOG_INTERVAL)

    @contextmanager
    def survived(self, kind: str, message: object) -> Iterator[None]:
        """Handle a message in this context. `message` is what the log shows of it: octets as
        hexadecimal digits.

        A lost connection (P4ClientError) is no failure of the message, and goes on.
        """
        try:
            yield
        except P4ClientError:
            raise
        except Exception:
            self.failed(kind, message)

    def dropped(self, kind: str, why: str) -> None:
        """A message is not handled for another reason."""
        self.counts[kind] += 1
        if self._throttle.admit(kind) is not None:
            count = self.counts[kind]
            LOG.warning("%s: dropped a %s (%d so far): %s", self._name, kind, count, why)

    def failed(self, kind: str, message: object) -> None:
        """The same for the exception that is being handled: a context takes longer than most
        messages."""
        self.counts[kind] += 1
        if self._throttle.admit(kind) is not None:
            count = self.counts[kind]
            shown = message.hex() if isinstance(message, bytes) else message
            LOG.exception("%s: cannot handle a %s (%d so far): %s", self._name, kind, count, shown)
