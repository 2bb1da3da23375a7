"""Fair turns for few places, between hosts of tenants that do not trust each other.

A place that becomes free goes to the VRF that has fewest, in it to the group of hosts that has
fewest, and of these to the host that has fewest; where several have as few, to the one whose last
turn is longest ago. So a tenant whose entries keep their places for long gets no more of them than
others, nor who invents hosts: they are of his group.
"""

from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

from fcn.controller.flows.shares import Host

EntryT = TypeVar("EntryT", bound=Hashable)
KeyT = TypeVar("KeyT", bound=Hashable)

Group = tuple[str, int]
_Queues = OrderedDict[Host, OrderedDict[EntryT, None]]
_Groups = OrderedDict[Group, _Queues[EntryT]]


def _group(host: Host) -> Group:
    return host.vrf, host.group


class Turns(Generic[EntryT]):
    """Entries that wait for a place, and those that have one. An entry concerns one or two hosts of
    a VRF, and its turn is when it is that of either."""

    def __init__(self) -> None:
        self._hosts: dict[EntryT, tuple[Host, ...]] = {}
        """Of all entries."""
        self._waiting: OrderedDict[str, _Groups[EntryT]] = OrderedDict()
        """Entries that wait, by VRF, group and each of their hosts; whose turn is next is first."""
        self._placed: dict[EntryT, None] = {}
        self._places: Counter[Hashable] = Counter()
        """How many a VRF, a group of one, or a host has."""

    def wait(self, entry: EntryT, hosts: Iterable[Host], *, first: bool = False) -> None:
        """A new entry waits; `first`: before the others of its hosts."""
        self._hosts[entry] = tuple(dict.fromkeys(hosts))
        for host in self._hosts[entry]:
            groups = self._waiting.setdefault(host.vrf, OrderedDict())
            queues = groups.setdefault(_group(host), OrderedDict())
            queue = queues.setdefault(host, OrderedDict())
            queue[entry] = None
            if first:
                queue.move_to_end(entry, last=False)

    def take(self) -> EntryT | None:
        """Who gets the next place; None where nobody waits."""
        if not self._waiting:
            return None
        vrf = self._fewest(self._waiting)
        groups = self._waiting[vrf]
        group = self._fewest(groups)
        queues = groups[group]
        host = self._fewest(queues)
        entry = next(iter(queues[host]))
        queues.move_to_end(host)
        groups.move_to_end(group)
        self._waiting.move_to_end(vrf)
        self._leave_queues(entry)
        self._placed[entry] = None
        self._places.update(self._sharers(entry))
        return entry

    def leave(self, entry: EntryT) -> None:
        """The entry neither waits nor has a place any more, if it did."""
        hosts = self._hosts.get(entry)
        if hosts is None:
            return
        if entry in self._placed:
            del self._placed[entry]
            for each in self._sharers(entry):
                self._places[each] -= 1
                if not self._places[each]:
                    del self._places[each]
        else:
            self._leave_queues(entry)
        del self._hosts[entry]

    def _sharers(self, entry: EntryT) -> set[Hashable]:
        """Whose place it is: its hosts', their groups', their VRF's."""
        hosts = self._hosts[entry]
        return {hosts[0].vrf, *map(_group, hosts), *hosts}

    def _fewest(self, keys: Iterable[KeyT]) -> KeyT:
        """The first of those that have fewest places; few have any, so the search is short."""
        best: tuple[int, KeyT] | None = None
        for key in keys:
            places = self._places[key]
            if not places:
                return key
            if best is None or places < best[0]:
                best = (places, key)
        assert best is not None
        return best[1]

    def _leave_queues(self, entry: EntryT) -> None:
        for host in self._hosts[entry]:
            groups, group = self._waiting[host.vrf], _group(host)
            queues = groups[group]
            del queues[host][entry]
            if not queues[host]:
                del queues[host]
            if not queues:
                del groups[group]
            if not groups:
                del self._waiting[host.vrf]


class InTurn(Generic[EntryT]):
    """Entries that wait, of which VRFs take turns; those of a VRF in their order."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, dict[EntryT, None]] = OrderedDict()

    def add(self, vrf: str, entry: EntryT) -> None:
        """It waits from now on, if it did not."""
        self._waiting.setdefault(vrf, {})[entry] = None

    def discard(self, vrf: str, entry: EntryT) -> None:
        """It does not wait any more, if it did."""
        waiting = self._waiting.get(vrf, {})
        waiting.pop(entry, None)
        if not waiting:
            self._waiting.pop(vrf, None)

    def take(self, most: int) -> list[EntryT]:
        """Who is next, so many at most: they wait no more."""
        found: list[EntryT] = []
        while self._waiting and len(found) < most:
            vrf, waiting = next(iter(self._waiting.items()))
            found.append(next(iter(waiting)))
            self._waiting.move_to_end(vrf)
            self.discard(vrf, found[-1])
        return found
