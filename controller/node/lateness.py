"""How late the messages of a switch come: under load they wait at the switch and on the way."""

from collections.abc import Callable
from math import inf

DRIFT = 1e-4
"""Seconds per second by which a switch's clock may run slower than ours: a crystal's 100 ppm."""

SET_BACK = 600.0
"""Seconds by which no message is late, as who is silent for so long has no session: the clock
of the switch was set back."""

NOTHING_WAITS = 1.0
"""Seconds without a message after which no other waits behind the latest."""


class Lateness:
    """Compares when messages were sent, by the switch's clock of any origin, with when they are
    handled, by `clock` (seconds, never goes back). The promptest message counts as in time, so a
    wait that all of a session share is not seen."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        """Another session begins."""
        self._least: float | None = None
        self._at, self._late = -inf, 0.0

    def heard_until(self) -> float:
        """Until when, by `clock`, the switch's messages of any kind have come: they come in the
        order in which they were sent."""
        now = self._clock()
        return self._at - self._late if now < self._at + NOTHING_WAITS else now

    def of(self, sent: int) -> float:
        """Seconds by which a message sent at `sent` (nanoseconds; 0: not said) is late."""
        if not sent:
            return 0.0
        now = self._clock()
        offset = now - sent / 1e9
        if self._least is None or offset - self._least > SET_BACK:
            self._least = offset
        self._least = min(offset, self._least + DRIFT * (now - self._at))
        self._at, self._late = now, offset - self._least
        return self._late
