"""What the switches report waits here until it is handled: per VRF and host, so that who sends more
than the controller can handle waits for himself. Under load it has waited before, at the switch and
on the way (lateness.py)."""

import asyncio
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

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


class _Hosts(Generic[T]):
    """Entries of a VRF by host, none without; whose turn is next comes first."""

    __slots__ = ("busiest", "length", "queues")

    def __init__(self) -> None:
        self.queues: OrderedDict[Hashable, deque[T]] = OrderedDict()
        self.length = 0
        self.busiest: Hashable = None

    def longest(self) -> tuple[Hashable, deque[T]]:
        """The host that gives way, and its entries; there must be one."""
        queue = self.queues.get(self.busiest)
        return (self.busiest, queue) if queue else next(reversed(self.queues.items()))

    def add(self, host: Hashable, entry: T) -> None:
        queue = self.queues.get(host)
        if queue is None:
            queue = self.queues[host] = deque()
        queue.append(entry)
        self.length += 1
        if len(queue) > len(self.queues.get(self.busiest, ())):
            self.busiest = host

    def taken(self, host: Hashable, queue: deque[T]) -> None:
        """An entry of this host is gone."""
        self.length -= 1
        if not queue:
            del self.queues[host]


class FairQueue(Generic[T]):
    """A queue of at most `limit` entries, in which tenants that do not trust each other wait for
    themselves only.

    VRFs take turns, and within a VRF its hosts; what one host sent stays in order. When it is full,
    whoever has most gives way: longest queue drop (Suter et al., INFOCOM 1998), where the longest
    is the one that was so when something was added last, which takes the same time for any number.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._length = 0
        self._vrfs: OrderedDict[str, _Hosts[T]] = OrderedDict()
        self._busiest = ""

    def __len__(self) -> int:
        return self._length

    def admits(self, vrf: str, host: Hashable) -> bool:
        """Whether this host may add an entry: there is room, or others have more than it."""
        if self._length < self._limit:
            return True
        hosts = self._vrfs.get(vrf)
        if hosts is None or hosts.length < self._longest()[1].length:
            return True
        return len(hosts.queues.get(host, ())) < len(hosts.longest()[1])

    def put(self, vrf: str, host: Hashable, entry: T) -> str | None:
        """Add an entry of a host that may; returns the VRF that lost one for it, if one did."""
        displaced = None
        mine = self._vrfs.get(vrf)
        if self._length >= self._limit:
            displaced, hosts = self._longest()
            if mine is not None and mine.length >= hosts.length:
                displaced, hosts = vrf, mine
            loser, queue = hosts.longest()
            queue.pop()
            self._taken(displaced, hosts, loser, queue)
            mine = self._vrfs.get(vrf)
        if mine is None:
            mine = self._vrfs[vrf] = _Hosts()
        mine.add(host, entry)
        self._length += 1
        busiest = self._vrfs.get(self._busiest)
        if busiest is None or mine.length > busiest.length:
            self._busiest = vrf
        return displaced

    def take(self) -> T:
        """The next entry; there must be one."""
        vrf, hosts = next(iter(self._vrfs.items()))
        host, queue = next(iter(hosts.queues.items()))
        entry = queue.popleft()
        self._vrfs.move_to_end(vrf)
        hosts.queues.move_to_end(host)
        self._taken(vrf, hosts, host, queue)
        return entry

    def _longest(self) -> tuple[str, _Hosts[T]]:
        hosts = self._vrfs.get(self._busiest)
        return (self._busiest, hosts) if hosts else next(reversed(self._vrfs.items()))

    def _taken(self, vrf: str, hosts: _Hosts[T], host: Hashable, queue: deque[T]) -> None:
        hosts.taken(host, queue)
        self._length -= 1
        if not hosts.length:
            del self._vrfs[vrf]


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

    def admits(self, node: str, vrf: str, host: Hashable) -> bool:
        """Whether a report about a packet of `host` may be put; one that may not is counted."""
        if self._queue.admits(vrf, host):
            return True
        self._refuse(node, vrf)
        return False

    def put(
        self,
        node: str,
        vrf: str,
        host: Hashable,
        handle: Callable[[], None],
        failed: Callable[[], None],
        sent: float | None = None,
    ) -> None:
        """A report of `node` that is admitted, about a packet of `host`; `handle` is called when it
        is its turn, and `failed` while its exception is handled, if it raises one. `sent`: when, by
        `clock`; None: now."""
        since = self._clock() if sent is None else sent
        dropped = self._queue.put(vrf, host, (handle, failed, node, since))
        self._filled.set()
        if dropped is not None:
            self._refuse(node, dropped)

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
