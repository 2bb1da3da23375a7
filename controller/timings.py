"""How long something takes, as counts of what took at most so long."""

from bisect import bisect_left
from dataclasses import dataclass, field

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """`counts`: of each bound those that took longer than the bound before, then of all above the
    last; `seconds`: all together."""

    counts: tuple[int, ...]
    seconds: float

    def cumulative(self) -> list[tuple[str, float]]:
        """For each bound how many took at most so long, as Prometheus wants it."""
        total, found = 0, []
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            total += count
            found.append((bound, float(total)))
        return found


NOTHING = Distribution((0,) * (len(BOUNDS) + 1), 0.0)


@dataclass(slots=True)
class Timings:
    _counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    _seconds: float = 0.0

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(BOUNDS, seconds)] += 1
        self._seconds += seconds

    def now(self) -> Distribution:
        return Distribution(tuple(self._counts), self._seconds)
