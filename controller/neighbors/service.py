"""ARP and neighbour discovery (RFC 826, RFC 4861): answers for the switch's own addresses, and the
MAC addresses of hosts and routers.

Hosts are learned from what they send, and asked for when a packet meets a connected prefix without
a host route. A resolved neighbour is a host route on the switch; it is asked again every `refresh`
and forgotten when it does not answer. Packets that wait for an answer are kept, few per neighbour.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network, ip_network

import finsy as fy

from fcn.contract.constants import PuntReason
from fcn.controller.config.addressing import Attachment, attachment, gateway, link_local, port_mac
from fcn.controller.config.model import NeighborSettings, NextHop, Port, Route
from fcn.controller.config.types import Address, Network, format_mac
from fcn.controller.events import EventBus, Kind
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
from fcn.controller.node.provision import Provision
from fcn.controller.owners.punt import Punt
from fcn.controller.owners.underlay import Adjacency
from fcn.controller.owners.vrf_routing import VrfRouting

LOG = logging.getLogger("fcn.neighbors")

MAX_WAITING = 4
"""Packets kept per unresolved neighbour."""

MAX_UNRESOLVED = 1024
"""Neighbours being asked for at once; more are not, so that a scan of a subnet stays harmless."""

TICK = 0.25

Send = Callable[[int, bytes], Awaitable[bool]]
"""Sends a frame out of a port; False when the switch is away."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a neighbour is: VRF ("" for the underlay), port, VLAN, address."""

    vrf: str
    port: int
    vlan: int
    address: Address


@dataclass(slots=True)
class _Neighbor:
    mac: int | None = None
    asked: int = 0
    next_ask: float = 0.0
    waiting: list[bytes] = field(default_factory=list)


class NeighborService:
    """The neighbours of one switch. `rounds` counts how often all of them were looked at."""

    def __init__(
        self,
        settings: NeighborSettings,
        provision: Provision,
        send: Send,
        bus: EventBus,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._provision = provision
        self._name = provision.name
        self._node = provision.node
        self._send = send
        self._bus = bus
        self._clock = clock
        self._vrf_names = {vrf.id: name for name, vrf in provision.config.vrfs.items()}
        self._neighbors: dict[Place, _Neighbor] = {}
        self.rounds = 0

    def __len__(self) -> int:
        """Neighbours whose MAC address is known."""
        return sum(neighbor.mac is not None for neighbor in self._neighbors.values())

    @property
    def asking(self) -> int:
        """Neighbours that are being asked for."""
        return sum(neighbor.mac is None for neighbor in self._neighbors.values())

    def adopt(self, entries: Iterable[fy.P4TableEntry]) -> None:
        """Host routes found on the switch that the configuration does not have: neighbours learned
        by a controller before this one. They are asked again at once."""
        for host in VrfRouting.hosts_in(entries):
            vrf, address = self._vrf_names.get(host.vrf), host.address
            if vrf is None:
                continue
            found = attachment(self._node, vrf, address)
            if found is None or found.neighbor != address or address in found.port.hosts:
                continue
            place = Place(vrf, found.port.number, found.port.vlan, address)
            if place not in self._neighbors:
                self._learn(place, host.mac)
                self._neighbors[place].next_ask = 0.0

    async def run(self) -> None:
        """Ask, ask again, and forget; begins with the next hops of the configuration."""
        while True:
            now = self._clock()
            for place in self._next_hops():
                if place not in self._neighbors:
                    self._neighbors[place] = _Neighbor()
            for place, neighbor in list(self._neighbors.items()):
                if neighbor.next_ask <= now:
                    await self._ask(place, neighbor, now)
            self.rounds += 1
            await asyncio.sleep(TICK)

    async def handle(self, packet: fy.P4PacketIn) -> None:
        """A packet the switch sent up."""
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

    async def _neighbor_message(self, port: Port, frame: bytes) -> None:
        message = interpret(frame)
        if isinstance(message, Solicitation):
            if message.target in self._own(port):
                await self._send(port.number, answer(message, self._mac(port), port.vlan))
                # RFC 826, RFC 4861 7.2.3: who asks is known thereby.
                if message.sender and self._is_neighbor(port, message.sender):
                    await self._resolved(self._place(port, message.sender), message.sender_mac)
        elif isinstance(message, Announcement):
            place = self._place(port, message.address)
            if place in self._neighbors:
                await self._resolved(place, message.mac)

    async def _miss(self, vrf: str | None, frame: bytes) -> None:
        if vrf is None:
            return
        address = destination(frame)
        if address is None:
            return
        place = self._place_of(vrf, address) if vrf else self._underlay_place(address)
        if place is None:
            return
        neighbor = self._neighbors.get(place)
        if neighbor is None:
            if self.asking >= MAX_UNRESOLVED:
                return
            neighbor = self._neighbors[place] = _Neighbor()
            if len(neighbor.waiting) < MAX_WAITING:
                neighbor.waiting.append(frame)
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
                reply = echo_reply(frame, self._mac(port), request.sender_mac, port.vlan)
                await self._send(port.number, reply)
            return
        place = self._place_of(vrf, request.sender) if vrf else None
        if place is None:
            return  # Beyond the WAN: a packet-out cannot enter a tunnel.
        out = self._node.port(place.port, place.vlan)
        neighbor = self._neighbors.get(place)
        static = out.hosts.get(place.address) if out else None
        mac = neighbor.mac if neighbor and neighbor.mac else static
        if out is not None:
            mac = mac or (request.sender_mac if out == port else None)
            if mac is not None:
                await self._send(out.number, echo_reply(frame, self._mac(out), mac, out.vlan))

    async def _ask(self, place: Place, neighbor: _Neighbor, now: float) -> None:
        attempts, known = self._settings.attempts, neighbor.mac is not None
        if neighbor.asked >= attempts:
            if known:
                self._forget(place, neighbor)
            elif not self._is_next_hop(place):
                del self._neighbors[place]
                return
            neighbor.asked = 0
            neighbor.waiting.clear()
            neighbor.next_ask = now + self._settings.refresh / 1e6
            return
        neighbor.next_ask = now + self._settings.retry / 1e6
        port = self._node.port(place.port, place.vlan)
        if port is None:
            del self._neighbors[place]
            return
        source = self._source(port, place.address)
        if source is None:
            neighbor.asked += 1
            return
        frame = solicit(self._mac(port), source, place.address, port.vlan)
        # A question that could not be put says nothing about the neighbour.
        if await self._send(port.number, frame):
            neighbor.asked += 1

    async def _resolved(self, place: Place, mac: int) -> None:
        neighbor = self._neighbors.get(place)
        waiting = neighbor.waiting if neighbor else []
        self._learn(place, mac)
        await self._forward(place, mac, waiting)

    def _learn(self, place: Place, mac: int) -> None:
        neighbor = self._neighbors.setdefault(place, _Neighbor())
        changed = neighbor.mac != mac
        neighbor.mac = mac
        neighbor.asked = 0
        neighbor.waiting = []
        neighbor.next_ask = self._clock() + self._settings.refresh / 1e6
        if not changed:
            return
        self._install(place, mac)
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

    def _install(self, place: Place, mac: int) -> None:
        port = self._node.port(place.port, place.vlan)
        if port is None:
            return
        if place.vrf == "":
            self._route_underlay(place)
            return
        vrf = self._provision.vrf_id(place.vrf)
        prefixes: list[Network] = [ip_network(place.address)]
        prefixes += [route.prefix for route in self._routes_via(place)]
        for prefix in prefixes:
            self._provision.routing.deliver(
                vrf, prefix, port.number, port.vlan, self._mac(port), mac
            )

    def _forget(self, place: Place, neighbor: _Neighbor) -> None:
        neighbor.mac = None
        self._bus.emit(
            Kind.NEIGHBOR,
            self._name,
            f"{place.address} on {self._name} port {place.port} does not answer any more",
            vrf=place.vrf,
            address=place.address,
            port=place.port,
        )
        if place.vrf == "":
            self._route_underlay(place)
        else:
            vrf = self._provision.vrf_id(place.vrf)
            self._provision.routing.withdraw(vrf, ip_network(place.address))
            for route in self._routes_via(place):
                self._provision.routing.resolve(vrf, route.prefix)
        if not self._is_next_hop(place):
            del self._neighbors[place]

    def _route_underlay(self, changed: Place) -> None:
        """Bring the host route and the explicit routes over this neighbour up to date."""
        underlay = self._provision.underlay
        neighbor = self._neighbors.get(changed)
        if isinstance(changed.address, IPv6Address) and not changed.address.is_link_local:
            prefix = IPv6Network(changed.address)
            if neighbor is not None and neighbor.mac is not None:
                underlay.route(prefix, [self._provision.adjacency(changed.port, neighbor.mac)])
            else:
                underlay.withdraw(prefix)
        for route in self._node.underlay:
            if any((hop.port, hop.address) == (changed.port, changed.address) for hop in route.via):
                hops = [hop for item in route.via for hop in self._adjacency(item)]
                if hops:
                    underlay.route(route.prefix, hops)
                else:
                    underlay.resolve(route.prefix)

    def _adjacency(self, hop: NextHop) -> list[Adjacency]:
        if hop.mac is not None:
            return [self._provision.adjacency(hop.port, hop.mac)]
        assert hop.address is not None, "config/model.py saw to it"
        neighbor = self._neighbors.get(Place("", hop.port, 0, hop.address))
        if neighbor is None or neighbor.mac is None:
            return []
        return [self._provision.adjacency(hop.port, neighbor.mac)]

    async def _forward(self, place: Place, mac: int, frames: list[bytes]) -> None:
        port = self._node.port(place.port, place.vlan)
        for frame in frames:
            if port is None:
                return
            as_router = place.vrf != ""
            packet = forwarded(frame, self._mac(port), mac, port.vlan, as_router=as_router)
            if packet is not None:
                await self._send(port.number, packet)

    def _place(self, port: Port, address: Address) -> Place:
        return Place(port.vrf or "", port.number, port.vlan, address)

    def _place_of(self, vrf: str, address: Address) -> Place | None:
        found: Attachment | None = attachment(self._node, vrf, address)
        if found is None or found.neighbor in self._own(found.port):
            return None
        return self._place(found.port, found.neighbor)

    def _underlay_place(self, destination: Address) -> Place | None:
        """The neighbour for an underlay packet: on a core subnet, or an unresolved next hop."""
        for port in self._node.core_ports:
            if any(destination in interface.network for interface in port.addresses):
                return self._place(port, destination)
        routes = [route for route in self._node.underlay if destination in route.prefix]
        for route in sorted(routes, key=lambda route: -route.prefix.prefixlen):
            for hop in route.via:
                if hop.address is not None:
                    return Place("", hop.port, 0, hop.address)
        return None

    def _next_hops(self) -> set[Place]:
        """Neighbours that routes of the configuration need."""
        places = {
            Place("", hop.port, 0, hop.address)
            for route in self._node.underlay
            for hop in route.via
            if hop.address is not None
        }
        for vrf, local in self._node.vrfs.items():
            for route in local.routes:
                place = self._place_of(vrf, route.via) if route.via is not None else None
                if place is not None and not self._is_static(place):
                    places.add(place)
        return places

    def _is_static(self, place: Place) -> bool:
        port = self._node.port(place.port, place.vlan)
        return port is not None and place.address in port.hosts

    def _is_next_hop(self, place: Place) -> bool:
        return place in self._next_hops()

    def _routes_via(self, place: Place) -> list[Route]:
        local = self._node.vrfs.get(place.vrf)
        return [route for route in local.routes if route.via == place.address] if local else []

    def _is_neighbor(self, port: Port, address: Address) -> bool:
        """Whether an address may be learned on a port: in its subnets, or link-local on a core."""
        if address in self._own(port):
            return False
        if gateway(port, address) is not None:
            place = self._place_of(port.vrf, address) if port.vrf else self._place(port, address)
            return place == self._place(port, address)
        return port.role == "core" and address.version == 6 and address.is_link_local

    def _own(self, port: Port) -> set[Address]:
        own: set[Address] = {interface.ip for interface in port.addresses}
        own.add(link_local(self._mac(port)))
        return own

    def _source(self, port: Port, target: Address) -> Address | None:
        """Own address to ask from."""
        interface = gateway(port, target)
        if interface is not None:
            return interface.ip
        return link_local(self._mac(port)) if target.version == 6 else None

    def _mac(self, port: Port) -> int:
        return port_mac(self._name, self._node, port)
