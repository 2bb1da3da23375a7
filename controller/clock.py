"""Time as the controller sees it, so that a laboratory can run it in virtual time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Clock:
    """`monotonic` returns seconds and never goes back, `wall` seconds since the epoch, `work`
    seconds for which the calling thread had a processor."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    work: Callable[[], float] = time.thread_time
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_began", self.wall() - self.monotonic())

    def dated(self) -> float:
        """Seconds since the epoch, as `wall` had it at the start, that never go back."""
        return self._began + self.monotonic()


SYSTEM_CLOCK = Clock()
