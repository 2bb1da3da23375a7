"""Fair shares of something limited, between hosts of tenants that do not trust each other.

While there is room everybody gets what he asks for. When all is taken, a newcomer gets the place of
the newest entry of the host that has most, in the group that has most, in the VRF that has most:
the longest queue drop of shared buffers (Suter et al., INFOCOM 1998). The host that has most gets
nothing more, so entries change hands towards equal shares only, and a tenant that asks for
everything displaces itself. So does whoever invents hosts: they are of his group.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Generic, Protocol, TypeVar, cast

from fcn.controller.config.notation import Address
from fcn.controller.flows.key import FlowKey

GROUPED = {4: 8, 6: 64}
"""Bits by which addresses of a group differ: a host may pretend to be any of its subnet, and of no
other port's, whose reports are not believed (reports.py)."""

HOSTS = 65536
"""Hosts of which the object is kept."""

EntryT = TypeVar("EntryT", bound=Hashable)
KeyT = TypeVar("KeyT", bound=Hashable)


class Holder(Hashable, Protocol):
    """Whose entries are counted."""

    @property
    def vrf(self) -> str:
        """The tenant."""

    @property
    def group(self) -> Hashable:
        """What it cannot leave by pretending to be another."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host of a tenant: the one that caused an entry."""

    vrf: str
    address: Address
    group: int = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    """Computed once: hosts are looked up again and again, and hashing an address is slow."""

    def __post_init__(self) -> None:
        number = int(self.address)
        object.__setattr__(self, "group", number >> GROUPED[self.address.version])
        object.__setattr__(self, "_hash", hash((self.vrf, number)))

    def __hash__(self) -> int:
        return self._hash


host_of = lru_cache(HOSTS)(Host)
"""The host with an address of a VRF, the same object each time."""


class NoRoomError(Exception):
    """All is taken, and the asking host has the largest share already."""


class _Ranks(Generic[KeyT]):
    """Keys by their count, which changes by one or from nothing."""

    def __init__(self, counts: Mapping[KeyT, int]) -> None:
        self._keys: dict[int, dict[KeyT, None]] = {}
        self._highest = 0
        for key, count in counts.items():
            self.move(key, 0, count)

    def largest(self) -> KeyT:
        return next(iter(self._keys[self._highest]))

    def move(self, key: KeyT, before: int, count: int) -> None:
        """A count has changed, by one or from nothing."""
        if before:
            del self._keys[before][key]
            if not self._keys[before]:
                del self._keys[before]
        if count:
            self._keys.setdefault(count, {})[key] = None
        if count > self._highest or self._highest not in self._keys:
            self._highest = count


class _Tally:
    """Counts by the first name of a path, and of each name by the rest; the highest in constant
    time, whatever their number.

    The order is kept from the first time somebody asks for it: while there is room nobody does.
    """

    def __init__(self) -> None:
        self._count: dict[Hashable, int] = {}
        self._parts: dict[Hashable, _Tally] = {}
        """None of last names."""
        self._ranks: _Ranks[Hashable] | None = None

    def change(self, path: Sequence[Hashable], step: int) -> None:
        """Count one more or one less."""
        name = path[0]
        before = self._count.get(name, 0)
        if count := before + step:
            self._count[name] = count
        else:
            del self._count[name]
        if self._ranks is not None:
            self._ranks.move(name, before, count)
        if len(path) == 1:
            return
        part = self._parts.get(name)
        if part is None:
            part = self._parts[name] = _Tally()
        part.change(path[1:], step)
        if not count:
            del self._parts[name]

    def loser(self, path: Sequence[Hashable]) -> Hashable | None:
        """The last name of who gives way to one more with this path; None where nobody has more."""
        if not self._count:
            return None
        name, *rest = path
        largest = self._largest()
        if self._count[largest] > self._count.get(name, 0) + 1:
            return self._parts[largest]._top() if rest else largest
        # The others have no more than this one: nobody else gives way.
        part = self._parts.get(name)
        return part.loser(rest) if part is not None else None

    def _top(self) -> Hashable:
        largest = self._largest()
        return self._parts[largest]._top() if self._parts else largest

    def _largest(self) -> Hashable:
        if self._ranks is None:
            self._ranks = _Ranks(self._count)
        return self._ranks.largest()


class Tallies:
    """How many entries each host has, or whoever else is told apart in a group of a VRF."""

    def __init__(self) -> None:
        self._size = 0
        self._tally = _Tally()

    def __len__(self) -> int:
        """Entries of all hosts."""
        return self._size

    def change(self, host: Holder, step: int) -> None:
        """A host has one more or one less."""
        self._size += step
        self._tally.change((host.vrf, host.group, host), step)

    def loser(self, newcomer: Holder, limit: int) -> Holder | None:
        """The largest host, which gives way to a new entry of this one; None where there is room.
        Raises NoRoomError."""
        if self._size < limit:
            return None
        found = self._tally.loser((newcomer.vrf, newcomer.group, newcomer))
        if found is None:
            raise NoRoomError
        return cast(Holder, found)


class FairShares(Generic[EntryT]):
    """Entries by host, which is kept with each."""

    def __init__(self) -> None:
        self._entries: dict[Holder, dict[EntryT, None]] = {}
        """Of each host the oldest first."""
        self._tallies = Tallies()
        self._host: dict[EntryT, Holder] = {}

    def __len__(self) -> int:
        """Entries of all hosts."""
        return len(self._tallies)

    def __iter__(self) -> Iterator[EntryT]:
        return chain.from_iterable(self._entries.values())

    def __contains__(self, entry: EntryT) -> bool:
        return self._holder(entry) is not None

    def of(self, host: Holder) -> Iterator[EntryT]:
        """Entries of a host, oldest first."""
        return iter(self._entries.get(host, {}))

    def newest(self, host: Holder) -> EntryT | None:
        return next(reversed(self._entries.get(host, {})), None)

    def add(self, host: Holder, entry: EntryT, limit: int) -> EntryT | None:
        """A new entry of a host, where there may be `limit` in all.

        Returns the entry that must go for it, if one must: it has no share any more, and the caller
        undoes it. Raises NoRoomError.
        """
        displaced = self.loser(host, limit)
        if displaced is not None:
            self.remove(displaced)
        self._note(entry, host)
        entries = self._entries.get(host)
        if entries is None:
            entries = self._entries[host] = {}
        entries[entry] = None
        self._tallies.change(host, 1)
        return displaced

    def remove(self, entry: EntryT) -> bool:
        """The entry is gone; nothing happens where it has no share, which is False."""
        host = self._holder(entry)
        if host is None:
            return False
        self._forget(entry)
        del self._entries[host][entry]
        if not self._entries[host]:
            del self._entries[host]
        self._tallies.change(host, -1)
        return True

    def loser(self, newcomer: Holder, limit: int) -> EntryT | None:
        """The entry that a new one of this host would displace: the newest of the largest host;
        None where there is room. Raises NoRoomError."""
        host = self._tallies.loser(newcomer, limit)
        return None if host is None else self.newest(host)

    def _holder(self, entry: EntryT) -> Holder | None:
        return self._host.get(entry)

    def _note(self, entry: EntryT, host: Holder) -> None:
        self._host[entry] = host

    def _forget(self, entry: EntryT) -> None:
        del self._host[entry]


class FlowShares(FairShares[FlowKey]):
    """Flows by the host that sends them. Of a host's those go first whose sender is not known."""

    def __init__(self) -> None:
        super().__init__()
        self._unknown: dict[Holder, dict[FlowKey, None]] = {}

    def tell(self, entry: FlowKey, *, known: bool) -> None:
        """Whether the sender of an entry is known."""
        host = host_of(entry.vrf, entry.src)
        if not known:
            self._unknown.setdefault(host, {})[entry] = None
        elif (entries := self._unknown.get(host)) is not None:
            entries.pop(entry, None)
            if not entries:
                del self._unknown[host]

    def unknown(self, host: Holder) -> FlowKey | None:
        """The last entry of a host whose sender is not known."""
        return next(reversed(self._unknown.get(host, {})), None)

    def newest(self, host: Holder) -> FlowKey | None:
        unknown = self.unknown(host)
        return super().newest(host) if unknown is None else unknown

    def _holder(self, entry: FlowKey) -> Holder | None:
        host = host_of(entry.vrf, entry.src)
        return host if entry in self._entries.get(host, ()) else None

    def _note(self, entry: FlowKey, host: Holder) -> None:
        """The flow says it."""

    def _forget(self, entry: FlowKey) -> None:
        self.tell(entry, known=True)
