"""Room for neighbours, shared fairly between tenants that do not trust each other.

Hosts invent addresses of their subnets, of which IPv6 has any number: by asking for their gateway
each becomes a host route, by sending to it a neighbour to be resolved. When all is taken, a
newcomer gets the place of the newest of the port with most, in the VRF with most
(flows/shares.py). Neighbours in the underlay have room of their own, shared in the same way
between ports. Next hops of the configuration always have room.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

from fcn.controller.flows.refusals import RefusalReason, Refusals
from fcn.controller.flows.shares import FairShares, NoRoomError
from fcn.controller.neighbors.places import Place

MAX_UNRESOLVED = 1024
"""Neighbours being resolved at a time, at most: bounds the effect of an address scan."""

MAX_UNDERLAY = 1024
"""Neighbours in the underlay that are no next hops, at most: a quarter of its table."""


class _Attachment(NamedTuple):
    """What hosts of a tenant share whoever they pretend to be."""

    vrf: str
    port: int
    vlan: int

    @property
    def group(self) -> Self:
        """Nobody else is of it."""
        return self


class NeighborRoom:
    """Who is resolved and who has a route at one switch; `routes`: how many hosts may have one, by
    IP version."""

    def __init__(self, name: str, routes: Mapping[int, int], refusals: Refusals) -> None:
        self._name = name
        self._routes = routes
        self._refusals = refusals
        self._asked: FairShares[Place] = FairShares()
        self._known: dict[int, FairShares[Place]] = {4: FairShares(), 6: FairShares()}
        self._underlay: FairShares[Place] = FairShares()

    def ask(self, place: Place) -> Place | None:
        """Room to resolve a neighbour; returns the one whose place it gets, if any. Raises
        NoRoomError, which is counted."""
        return self._add(self._asked, place, MAX_UNRESOLVED)

    def know(self, place: Place) -> Place | None:
        """Room for the route of a host that is resolved; as `ask`."""
        version = place.address.version
        limit = self._routes.get(version, 0) if place.vrf else MAX_UNDERLAY
        displaced = self._add(self._shares(place), place, limit)
        self._asked.remove(place)
        return displaced

    def leave(self, place: Place) -> None:
        """The neighbour is neither resolved nor known any more, if it was."""
        self._asked.remove(place)
        self._shares(place).remove(place)

    def _shares(self, place: Place) -> FairShares[Place]:
        """Of those that are known."""
        return self._known[place.address.version] if place.vrf else self._underlay

    def _add(self, shares: FairShares[Place], place: Place, limit: int) -> Place | None:
        try:
            return shares.add(_Attachment(place.vrf, place.port, place.vlan), place, limit)
        except NoRoomError:
            self._refusals.refuse(
                self._name,
                place.vrf,
                RefusalReason.NO_ROOM_NEIGHBORS,
                lambda: (
                    f"{place.address} of {place.vrf or 'the underlay'} is not resolved: "
                    f"too many of port {place.port}"
                ),
            )
            raise
