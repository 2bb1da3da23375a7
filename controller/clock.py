"""Time as the controller sees it, so that a laboratory can run it in virtual time."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """`monotonic` returns seconds and never goes back, `wall` seconds since the epoch, `work`
    seconds for which the calling thread had a processor."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    work: Callable[[], float] = time.thread_time


SYSTEM_CLOCK = Clock()
