"""Bounds how often something is said, by kind: most of it is caused by tenants."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

KindT = TypeVar("KindT", bound=Hashable)


@dataclass(slots=True)
class _Window:
    """`ends`: when the count begins anew; `said` and `unsaid` since it began or one was said."""

    ends: float
    said: int = 0
    unsaid: int = 0


class Throttle(Generic[KindT]):
    """Lets `limit` of a kind through in `interval` seconds. `clock` returns seconds and never goes
    back. Kinds are remembered: they must be bounded."""

    def __init__(self, clock: Callable[[], float], limit: int, interval: float) -> None:
        self._clock = clock
        self._limit = limit
        self._interval = interval
        self._windows: dict[KindT, _Window] = {}

    def admit(self, kind: KindT) -> int | None:
        """Whether one more may be said now: None if not, else how many were not said since one was
        said last."""
        now = self._clock()
        window = self._windows.get(kind)
        if window is None:
            window = self._windows[kind] = _Window(now + self._interval)
        elif now >= window.ends:
            window.ends, window.said = now + self._interval, 0
        if window.said >= self._limit:
            window.unsaid += 1
            return None
        window.said += 1
        unsaid, window.unsaid = window.unsaid, 0
        return unsaid

    def overdue(self) -> Iterator[tuple[KindT, int]]:
        """Kinds of which nothing came since some were not said, and how many; once."""
        now = self._clock()
        for kind, window in self._windows.items():
            if window.unsaid and now >= window.ends:
                unsaid, window.unsaid = window.unsaid, 0
                yield kind, unsaid
