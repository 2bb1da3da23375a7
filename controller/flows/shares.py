"""Fair shares of something limited, between hosts of tenants that do not trust each other.

While there is room everybody gets what he asks for. When all is taken, a newcomer gets the place of
the newest entry of the host that has most, in the VRF that has most: the longest queue drop of
shared buffers (Suter et al., INFOCOM 1998). The host that has most gets nothing more, so entries
change hands towards equal shares only, and a tenant that asks for everything displaces itself.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

from fcn.controller.config.notation import Address
from fcn.controller.flows.key import FlowKey

HOSTS = 65536
"""Hosts of which the object is kept."""

EntryT = TypeVar("EntryT", bound=Hashable)
KeyT = TypeVar("KeyT", bound=Hashable)


class Holder(Hashable, Protocol):
    """Whose entries are counted."""

    @property
    def vrf(self) -> str:
        """The tenant."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host of a tenant: the one that caused an entry."""

    vrf: str
    address: Address
    _hash: int = field(init=False, repr=False, compare=False)
    """Computed once: hosts are looked up again and again, and hashing an address is slow."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.vrf, int(self.address))))

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
    """Counts of the hosts of a VRF; the host with the highest in constant time, whatever their
    number.

    The order is kept from the first time somebody asks for it: while there is room nobody does.
    """

    def __init__(self) -> None:
        self.total = 0
        self._count: dict[Holder, int] = {}
        self._ranks: _Ranks[Holder] | None = None

    def __getitem__(self, host: Holder) -> int:
        return self._count.get(host, 0)

    def largest(self) -> Holder:
        """A host with the highest count; there must be one."""
        if self._ranks is None:
            self._ranks = _Ranks(self._count)
        return self._ranks.largest()

    def change(self, host: Holder, step: int) -> None:
        """Count one more or one less."""
        self.total += step
        before = self._count.get(host, 0)
        if count := before + step:
            self._count[host] = count
        else:
            del self._count[host]
        if self._ranks is not None:
            self._ranks.move(host, before, count)


_NOTHING = _Tally()


class Tallies:
    """How many entries each host has, or whoever else is told apart in a VRF."""

    def __init__(self) -> None:
        self._size = 0
        self._vrfs: dict[str, _Tally] = {}
        self._ranks: _Ranks[str] | None = None
        """Kept as those of a VRF are."""

    def __len__(self) -> int:
        """Entries of all hosts."""
        return self._size

    def change(self, host: Holder, step: int) -> None:
        """A host has one more or one less."""
        self._size += step
        vrf = self._vrfs.get(host.vrf)
        if vrf is None:
            vrf = self._vrfs[host.vrf] = _Tally()
        vrf.change(host, step)
        if not vrf.total:
            del self._vrfs[host.vrf]
        if self._ranks is not None:
            self._ranks.move(host.vrf, vrf.total - step, vrf.total)

    def loser(self, newcomer: Holder, limit: int) -> Holder | None:
        """The largest host, which gives way to a new entry of this one; None where there is room.
        Raises NoRoomError."""
        if self._size < limit:
            return None
        if not self._size:
            raise NoRoomError
        if self._ranks is None:
            self._ranks = _Ranks({name: tally.total for name, tally in self._vrfs.items()})
        own = self._vrfs.get(newcomer.vrf, _NOTHING)
        vrf = self._vrfs[self._ranks.largest()]
        if vrf.total <= own.total + 1:
            # The other VRFs have no more than this one: nobody else gives way.
            vrf = own
        if not vrf.total:
            raise NoRoomError
        largest = vrf.largest()
        if vrf is own and vrf[largest] <= vrf[newcomer] + 1:
            raise NoRoomError
        return largest


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
