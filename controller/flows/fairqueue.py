"""A bounded queue in which tenants that do not trust each other wait for themselves only.

VRFs take turns, and within a VRF its hosts; what one host sent stays in order. When the queue is
full, whoever has most gives way: longest queue drop (Suter et al., INFOCOM 1998), where the longest
is the one that was so when something was added last, which takes the same time for any number.
"""

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

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
    """At most `limit` entries."""

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
