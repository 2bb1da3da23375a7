"""What the switches report waits here until it is handled: per VRF, port and host, so that who
sends more than the controller can handle waits for himself. Under load it has waited before, at the
switch and on the way (lateness.py)."""

import asyncio
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar, cast

from fcn.controller.clock import SYSTEM_CLOCK
from fcn.controller.flows.refusals import RefusalReason, Refusals
from fcn.controller.timings import Timings

LIMIT = 32768
"""Reports that wait at most, of all VRFs: REQ and REP of as many connections as fit a PE."""

SLICE = 0.001
"""Seconds of processor time for which reports are handled before the event loop reads what else has
arrived. Of time that passes a busy machine may take all but one report's, again and again."""

ROUNDS = 4
"""Rounds of the event loop after each slice: to receive a message, or to write, takes a few. With
one round a tenant waits for another's flood (bench-learning: a p99 of 1.1 s in place of 0.06)."""

T = TypeVar("T")


Source = tuple[str, Hashable, Hashable]
"""Who sent something: VRF, where it came in (what he cannot leave by inventing addresses), host."""


class _Level(Generic[T]):
    """Entries by the first name of their path, and below it by the rest; whose turn is next comes
    first. Names without entries are not there."""

    __slots__ = ("_busiest", "_length", "_parts")

    def __init__(self) -> None:
        self._parts: OrderedDict[Hashable, _Level[T] | deque[T]] = OrderedDict()
        self._length = 0
        self._busiest: Hashable = None

    def __len__(self) -> int:
        return self._length

    def admits(self, path: Sequence[Hashable]) -> bool:
        """Whether another has more than this one, on the first level where they are not equal."""
        mine = self._parts.get(path[0])
        if mine is None or len(mine) < len(self._parts[self._longest()]):
            return True
        return isinstance(mine, _Level) and mine.admits(path[1:])

    def add(self, path: Sequence[Hashable], entry: T) -> None:
        name = path[0]
        part = self._parts.get(name)
        if part is None:
            part = self._parts[name] = _Level() if len(path) > 1 else deque()
        if isinstance(part, _Level):
            part.add(path[1:], entry)
        else:
            part.append(entry)
        self._length += 1
        if len(part) > len(self._parts.get(self._busiest, ())):
            self._busiest = name

    def take(self) -> T:
        """The next entry; there must be one."""
        name, part = next(iter(self._parts.items()))
        entry = part.take() if isinstance(part, _Level) else part.popleft()
        self._parts.move_to_end(name)
        self._taken(name, part)
        return entry

    def give_way(self, path: Sequence[Hashable]) -> tuple[Hashable, T]:
        """The newest entry of whoever has most goes, for one with this path if it is admitted;
        returns the first name of who lost it, and the entry."""
        loser = self._longest()
        mine = self._parts.get(path[0]) if path else None
        if mine is not None and len(mine) >= len(self._parts[loser]):
            loser = path[0]
        part = self._parts[loser]
        if isinstance(part, _Level):
            _, entry = part.give_way(path[1:] if part is mine else ())
        else:
            entry = part.pop()
        self._taken(loser, part)
        return loser, entry

    def _longest(self) -> Hashable:
        return self._busiest if self._busiest in self._parts else next(reversed(self._parts))

    def _taken(self, name: Hashable, part: "_Level[T] | deque[T]") -> None:
        self._length -= 1
        if not part:
            del self._parts[name]


class FairQueue(Generic[T]):
    """A queue of at most `limit` entries, in which tenants that do not trust each other wait for
    themselves only.

    VRFs take turns, within a VRF the places where packets come in, there the hosts; what one host
    sent stays in order. When it is full, whoever has most gives way: longest queue drop (Suter et
    al., INFOCOM 1998), where the longest is the one that was so when something was added last,
    which takes the same time for any number.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: _Level[T] = _Level()

    def __len__(self) -> int:
        return len(self._entries)

    def admits(self, source: Source) -> bool:
        """Whether it may add an entry: there is room, or others have more than it."""
        return len(self._entries) < self._limit or self._entries.admits(source)

    def put(self, source: Source, entry: T) -> tuple[str, T] | None:
        """Add an entry of a source that may; returns the VRF that lost one for it, if one did, and
        what it lost."""
        displaced = None
        if len(self._entries) >= self._limit:
            displaced = cast(tuple[str, T], self._entries.give_way(source))
        self._entries.add(source, entry)
        return displaced

    def take(self) -> T:
        """The next entry; there must be one."""
        return self._entries.take()


class Inbox:
    """Reports of all PEs. `work`: seconds of processor time of this thread."""

    def __init__(
        self,
        refusals: Refusals,
        work: Callable[[], float],
        limit: int = LIMIT,
        clock: Callable[[], float] = SYSTEM_CLOCK.monotonic,
    ) -> None:
        self.latency: defaultdict[str, Timings] = defaultdict(Timings)
        """By node, from when a report was sent until it was handled."""
        self._refusals = refusals
        self._work = work
        self._clock = clock
        self._queue: FairQueue[tuple[Callable[[], None], Callable[[], None], str, float]] = (
            FairQueue(limit)
        )
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._queue)

    def admits(self, node: str, source: Source) -> bool:
        """Whether a report about a packet of `source` may be put; one that may not is counted."""
        if self._queue.admits(source):
            return True
        self._refuse(node, source[0])
        return False

    def put(
        self,
        node: str,
        source: Source,
        handle: Callable[[], None],
        failed: Callable[[], None],
        sent: float | None = None,
    ) -> None:
        """A report of `node` that is admitted, about a packet of `source`; `handle` is called when
        it is its turn, and `failed` while its exception is handled, if it raises one. `sent`: when,
        by `clock`; None: now."""
        since = self._clock() if sent is None else sent
        dropped = self._queue.put(source, (handle, failed, node, since))
        self._filled.set()
        if dropped is not None:
            vrf, (_, _, of_node, _) = dropped
            self._refuse(of_node, vrf)

    def _refuse(self, node: str, vrf: str) -> None:
        self._refusals.refuse(
            node,
            vrf,
            RefusalReason.TOO_MANY_REPORTS,
            lambda: f"{vrf} causes more reports than are handled; some are dropped",
        )

    async def run(self) -> None:
        while True:
            await self._filled.wait()
            end = self._work() + SLICE
            while self._queue and self._work() < end:
                handle, failed, node, since = self._queue.take()
                try:
                    handle()
                except Exception:
                    failed()
                self.latency[node].observe(self._clock() - since)
            if not self._queue:
                self._filled.clear()
            for _ in range(ROUNDS):
                await asyncio.sleep(0)
