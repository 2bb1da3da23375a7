"""ARP and neighbour discovery (RFC 826, RFC 4861): resolution of hosts and routers, and answers for
the switch's own addresses.

Hosts that ask for a gateway are answered by the switch, which reports them; what it leaves to the
controller is answered here. Hosts are learned from both, and solicited when a packet matches a
connected prefix without a host route. A resolved neighbour becomes a host route on the switch; it
is solicited again every `refresh` and removed when it does not answer, which is judged by what was
sent until the switch's latest message: under load answers wait behind reports. While the switch
keeps packets of its VRF from the controller, its answer may be among them. A few packets per
unresolved neighbour are queued.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import finsy as fy

from fcn.contract.constants import PuntReason
from fcn.controller.config import Config
from fcn.controller.config.addressing import vrf_names
from fcn.controller.config.model import Port
from fcn.controller.config.notation import format_mac
from fcn.controller.events import EventBus, Kind
from fcn.controller.flows.shares import NoRoomError
from fcn.controller.neighbors.frames import (
    Announcement,
    EchoRequest,
    Solicitation,
    answer,
    destination,
    echo_reply,
    forwarded,
    interpret,
    solicit,
)
from fcn.controller.neighbors.places import Place, Places
from fcn.controller.neighbors.room import NeighborRoom
from fcn.controller.neighbors.routes import NeighborRoutes
from fcn.controller.owners.gateway import Asker
from fcn.controller.owners.punt import Punt
from fcn.controller.owners.underlay import Underlay
from fcn.controller.owners.vrf_routing import VrfRouting

MAX_WAITING = 4
"""Packets queued per unresolved neighbour."""

TICK = 0.25

_GROUP = 1 << 40
"""The bit of a MAC address that makes it a group's."""

Send = Callable[[int, bytes], Awaitable[bool]]
"""Sends a frame out of a port; False when the switch is away."""


class Refused(NamedTuple):
    """How many packets of a VRF the switch has kept from the controller, as counted at a time."""

    packets: int
    counted_at: float


@dataclass(slots=True)
class _Neighbor:
    """refused: of its VRF, when it was asked first since it answered."""

    mac: int | None = None
    asked: int = 0
    refused: int = 0
    asked_at: float = 0.0
    next_ask: float = 0.0
    waiting: list[bytes] = field(default_factory=list)


class NeighborService:
    """The neighbours of one switch. `clock` is monotonic, in seconds; `heard_until` says until when
    what the switch sent has come here; `refused`, what of a VRF, or of the underlay (""), it did
    not send. `rounds` counts the passes over all of them in `run`."""

    def __init__(
        self,
        config: Config,
        name: str,
        routing: VrfRouting,
        underlay: Underlay,
        send: Send,
        room: NeighborRoom,
        bus: EventBus,
        clock: Callable[[], float],
        heard_until: Callable[[], float],
        refused: Callable[[str], Refused],
    ) -> None:
        self._settings = config.neighbors
        self._name = name
        self._node = config.nodes[name]
        self._places = Places(config, name)
        self._routes = NeighborRoutes(config, name, self._places, routing, underlay, self._mac_of)
        self._send = send
        self._room = room
        self._bus = bus
        self._clock = clock
        self._heard_until = heard_until
        self._refused = refused
        self._vrf_names = vrf_names(config)
        self._neighbors: dict[Place, _Neighbor] = {}
        self.rounds = 0

    def __len__(self) -> int:
        """Neighbours whose MAC address is known."""
        return sum(neighbor.mac is not None for neighbor in self._neighbors.values())

    @property
    def asking(self) -> int:
        """Neighbours being resolved."""
        return sum(neighbor.mac is None for neighbor in self._neighbors.values())

    def adopt(self, entries: Iterable[fy.P4TableEntry]) -> None:
        """Take over neighbours from learned host routes found on the switch, written by an earlier
        run of the controller. They are solicited again at once."""
        for host in VrfRouting.hosts_in(entries):
            vrf = self._vrf_names.get(host.vrf)
            place = self._places.learned_route(vrf, host.address) if vrf is not None else None
            if place is not None and place not in self._neighbors:
                with suppress(NoRoomError):
                    self._learn(place, host.mac)
                    self._neighbors[place].next_ask = 0.0

    def take_over(self, before: Self) -> None:
        """Know the neighbours that were known under the configuration before, where they are at the
        same place under this one. They are solicited again at once."""
        hops = self._places.next_hops
        for place, neighbor in before._neighbors.items():
            if neighbor.mac is None or not (place in hops or self._is_here(place)):
                continue
            with suppress(NoRoomError):
                loser = None if place in hops else self._room.know(place)
                if loser is not None:
                    del self._neighbors[loser]
                    self._routes.lost(loser)
                self._neighbors[place] = _Neighbor(neighbor.mac)
                self._routes.resolved(place, neighbor.mac)

    def _is_here(self, place: Place) -> bool:
        """Whether a host that is no next hop can be there."""
        if place.vrf:
            return self._places.learned_route(place.vrf, place.address) == place
        return self._places.of_underlay(place.address) == place

    async def run(self) -> None:
        """Solicit, refresh and remove neighbours, until cancelled; begins with the configured next
        hops."""
        while True:
            now = self._clock()
            for place in self._places.next_hops:
                if place not in self._neighbors:
                    self._neighbors[place] = _Neighbor()
            for place, neighbor in list(self._neighbors.items()):
                due = self._heard_until() if neighbor.asked else now
                # While another was asked, this one may have been answered, displaced or replaced.
                if self._neighbors.get(place) is neighbor and neighbor.next_ask <= due:
                    await self._ask(place, neighbor, now)
            self.rounds += 1
            await asyncio.sleep(TICK)

    async def handle(self, packet: fy.P4PacketIn) -> None:
        punted = Punt.received(packet)
        reason, frame = punted.reason, punted.frame
        port = self._node.port(punted.port, punted.vlan)
        vrf = self._vrf_names.get(punted.vrf)
        if reason in (PuntReason.ARP, PuntReason.ND):
            if port is not None:
                await self._neighbor_message(port, frame)
        elif reason == PuntReason.NEIGHBOR_MISS:
            await self._miss(vrf, frame)
        elif reason == PuntReason.UNDERLAY_GLEAN:
            await self._miss("", frame)
        elif reason in (PuntReason.LOCAL, PuntReason.UNDERLAY_LOCAL):
            await self._local(reason, port, vrf, frame)

    async def asked(self, asker: Asker) -> None:
        """Learn a host that asked for its gateway and was answered by the switch."""
        port = self._node.port(asker.port, asker.vlan)
        if port is not None and self._places.may_learn(port, asker.address):
            await self._resolved(self._places.on(port, asker.address), asker.mac)

    async def _neighbor_message(self, port: Port, frame: bytes) -> None:
        message = interpret(frame)
        if isinstance(message, Solicitation):
            if message.target in self._places.own(port):
                await self._send(port.number, answer(message, self._places.mac(port), port.vlan))
                # RFC 826, RFC 4861 7.2.3: a request also announces its sender.
                if message.sender and self._places.may_learn(port, message.sender):
                    await self._resolved(self._places.on(port, message.sender), message.sender_mac)
        elif isinstance(message, Announcement):
            place = self._places.on(port, message.address)
            if place in self._neighbors:
                await self._resolved(place, message.mac)

    async def _miss(self, vrf: str | None, frame: bytes) -> None:
        if vrf is None:
            return
        address = destination(frame)
        if address is None:
            return
        place = self._places.of_customer(vrf, address) if vrf else self._places.of_underlay(address)
        if place is None:
            return
        neighbor = self._neighbors.get(place)
        if neighbor is None:
            try:
                self._displace(self._room.ask(place))
            except NoRoomError:
                return
            neighbor = self._neighbors[place] = _Neighbor(waiting=[frame])
            await self._ask(place, neighbor, self._clock())
        elif neighbor.mac is not None:
            await self._forward(place, neighbor.mac, [frame])
        elif len(neighbor.waiting) < MAX_WAITING:
            neighbor.waiting.append(frame)

    async def _local(self, reason: int, port: Port | None, vrf: str | None, frame: bytes) -> None:
        request = interpret(frame)
        if not isinstance(request, EchoRequest):
            return
        if reason == PuntReason.UNDERLAY_LOCAL:
            if port is not None:
                reply = echo_reply(frame, self._places.mac(port), request.sender_mac, port.vlan)
                await self._send(port.number, reply)
            return
        place = self._places.of_customer(vrf, request.sender) if vrf else None
        if place is None:
            return  # The sender is behind the WAN: a packet-out cannot be encapsulated.
        out = self._places.port_of(place)
        mac = self._mac_of(place) or self._places.static_mac(place)
        if out is not None:
            mac = mac or (request.sender_mac if out == port else None)
            if mac is not None:
                await self._send(
                    out.number, echo_reply(frame, self._places.mac(out), mac, out.vlan)
                )

    async def _ask(self, place: Place, neighbor: _Neighbor, now: float) -> None:
        attempts, known = self._settings.attempts, neighbor.mac is not None
        if neighbor.asked >= attempts:
            refused = self._refused(place.vrf)
            if known and refused.counted_at < neighbor.asked_at:
                neighbor.next_ask = now + TICK
                return
            if known and refused.packets <= neighbor.refused:
                self._forget(place, neighbor)
            elif not known and not self._places.is_next_hop(place):
                self._remove(place)
                return
            neighbor.asked = 0
            neighbor.waiting.clear()
            neighbor.next_ask = now + self._settings.refresh / 1e6
            return
        neighbor.next_ask = now + self._settings.retry / 1e6
        port = self._places.port_of(place)
        if port is None:
            self._remove(place)
            return
        source = self._places.source(port, place.address)
        if source is None:
            neighbor.asked += 1
            return
        frame = solicit(self._places.mac(port), source, place.address, port.vlan)
        before = neighbor.asked
        if not before:
            neighbor.refused = self._refused(place.vrf).packets
        neighbor.asked += 1
        neighbor.asked_at = now
        # A solicitation that was not sent does not count as unanswered, nor does one that was
        # answered before this returns.
        if not await self._send(port.number, frame):
            neighbor.asked = min(before, neighbor.asked)

    async def _resolved(self, place: Place, mac: int) -> None:
        # No host has a group address (RFC 1812 section 3.3.2).
        if not mac or mac & _GROUP:
            return
        neighbor = self._neighbors.get(place)
        waiting = neighbor.waiting if neighbor else []
        try:
            self._learn(place, mac)
        except NoRoomError:
            if neighbor is not None:
                self._remove(place)
        await self._forward(place, mac, waiting)

    def _learn(self, place: Place, mac: int) -> None:
        neighbor = self._neighbors.get(place)
        is_new = neighbor is None or neighbor.mac is None
        if is_new and not self._places.is_next_hop(place):
            self._displace(self._room.know(place))
        neighbor = neighbor or self._neighbors.setdefault(place, _Neighbor())
        changed = neighbor.mac != mac
        neighbor.mac = mac
        neighbor.asked = 0
        neighbor.waiting = []
        neighbor.next_ask = self._clock() + self._settings.refresh / 1e6
        if not changed:
            return
        self._routes.resolved(place, mac)
        self._bus.emit(
            Kind.NEIGHBOR,
            self._name,
            f"{place.address} is at {format_mac(mac)} on {self._name} port {place.port}",
            vrf=place.vrf,
            address=place.address,
            mac=format_mac(mac),
            port=place.port,
            vlan=place.vlan,
        )

    def _displace(self, place: Place | None) -> None:
        """Another tenant, or port, gets the place of this neighbour."""
        neighbor = self._neighbors.get(place) if place is not None else None
        if place is None or neighbor is None:
            return
        if neighbor.mac is not None:
            self._forget(place, neighbor, "gave its route to one of another port")
        else:
            self._remove(place)

    def _remove(self, place: Place) -> None:
        self._room.leave(place)
        del self._neighbors[place]

    def _forget(
        self, place: Place, neighbor: _Neighbor, why: str = "does not answer any more"
    ) -> None:
        neighbor.mac = None
        self._bus.emit(
            Kind.NEIGHBOR,
            self._name,
            f"{place.address} on {self._name} port {place.port} {why}",
            vrf=place.vrf,
            address=place.address,
            port=place.port,
        )
        self._routes.lost(place)
        if not self._places.is_next_hop(place):
            self._remove(place)

    async def _forward(self, place: Place, mac: int, frames: list[bytes]) -> None:
        port = self._places.port_of(place)
        for frame in frames:
            if port is None:
                return
            as_router = place.vrf != ""
            packet = forwarded(frame, self._places.mac(port), mac, port.vlan, as_router=as_router)
            if packet is not None:
                await self._send(port.number, packet)

    def _mac_of(self, place: Place) -> int | None:
        neighbor = self._neighbors.get(place)
        return neighbor.mac if neighbor is not None else None
