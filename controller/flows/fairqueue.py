"""A bounded queue in which tenants that do not trust each other wait for themselves only.

VRFs take turns, and within a VRF its hosts; what one host sent stays in order. When the queue is
full the newest entry of the host that has most goes, in the VRF that has most: longest queue drop
(Suter et al., INFOCOM 1998).
"""

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from fcn.controller.flows.shares import Tally

T = TypeVar("T")

_Hosts = OrderedDict[Hashable, deque[T]]
"""Entries by host, none without; whose turn is next comes first."""


class FairQueue(Generic[T]):
    """At most `limit` entries."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._length = 0
        self._vrfs: OrderedDict[str, _Hosts[T]] = OrderedDict()
        self._of_vrf: Tally[str] = Tally()
        self._of_host: dict[str, Tally[Hashable]] = {}

    def __len__(self) -> int:
        return self._length

    def put(self, vrf: str, host: Hashable, entry: T) -> str | None:
        """Add an entry of a host; returns the VRF that lost one for it, if one did."""
        hosts = self._vrfs.get(vrf)
        if hosts is None:
            hosts = self._vrfs[vrf] = OrderedDict()
            self._of_host[vrf] = Tally()
        waiting = hosts.get(host)
        if waiting is None:
            waiting = hosts[host] = deque()
        waiting.append(entry)
        self._count(vrf, host, 1)
        if self._length <= self._limit:
            return None
        longest = self._of_vrf.largest()
        host = self._of_host[longest].largest()
        self._vrfs[longest][host].pop()
        self._taken(longest, host)
        return longest

    def take(self) -> T:
        """The next entry; there must be one."""
        vrf, hosts = next(iter(self._vrfs.items()))
        host, waiting = next(iter(hosts.items()))
        entry = waiting.popleft()
        self._vrfs.move_to_end(vrf)
        hosts.move_to_end(host)
        self._taken(vrf, host)
        return entry

    def _taken(self, vrf: str, host: Hashable) -> None:
        self._count(vrf, host, -1)
        hosts = self._vrfs[vrf]
        if not hosts[host]:
            del hosts[host]
        if not hosts:
            del self._vrfs[vrf], self._of_host[vrf]

    def _count(self, vrf: str, host: Hashable, step: int) -> None:
        self._length += step
        self._of_vrf.change(vrf, step)
        self._of_host[vrf].change(host, step)
