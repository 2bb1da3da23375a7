"""How late a switch's messages are handled: under load they wait, there, on the way, and here."""

import time
from collections.abc import Callable

DRIFT = 1e-4
"""Seconds per second by which a switch's clock may run slower than ours: a crystal's 100 ppm."""


class Lateness:
    """Compares when messages were sent, by the switch's clock of any origin, with when they are
    handled, by `clock` (seconds, never goes back). The promptest message counts as in time, so a
    wait that all of a session share is not seen."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._least: float | None = None
        self._at = 0.0

    def of(self, sent: int) -> float:
        """Seconds by which a message sent at `sent` (nanoseconds; 0: not said) is late."""
        if not sent:
            return 0.0
        now = self._clock()
        offset = now - sent / 1e9
        if self._least is None:
            self._least = offset
        self._least = min(offset, self._least + DRIFT * (now - self._at))
        self._at = now
        return offset - self._least
