"""Locations of a switch's neighbours, from the configuration: ports, subnets, next hops."""

from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from fcn.controller.config import Config
from fcn.controller.config.addressing import (
    attachment,
    core_subnets,
    gateway,
    link_local,
    port_mac,
    underlay_next_hops,
)
from fcn.controller.config.model import Port, Route
from fcn.controller.config.notation import Address


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a neighbour: VRF ("" for the underlay), port, VLAN, address."""

    vrf: str
    port: int
    vlan: int
    address: Address


class Places:
    """Neighbours of a node as far as the configuration determines them."""

    def __init__(self, config: Config, name: str) -> None:
        self._config = config
        self._name = name
        self._node = config.nodes[name]

    def port_of(self, place: Place) -> Port | None:
        return self._node.port(place.port, place.vlan)

    def mac(self, port: Port) -> int:
        return port_mac(self._name, self._node, port)

    def own(self, port: Port) -> set[Address]:
        own: set[Address] = {interface.ip for interface in port.addresses}
        own.add(link_local(self.mac(port)))
        return own

    def source(self, port: Port, target: Address) -> Address | None:
        """The source address of solicitations for a neighbour; None when the node has none."""
        interface = gateway(port, target)
        if interface is not None:
            return interface.ip
        return link_local(self.mac(port)) if target.version == 6 else None

    def on(self, port: Port, address: Address) -> Place:
        return Place(port.vrf or "", port.number, port.vlan, address)

    def of_customer(self, vrf: str, address: Address) -> Place | None:
        """The neighbour that packets of a VRF to `address` are sent to: host or next hop."""
        found = attachment(self._node, vrf, address)
        if found is None or found.neighbor in self.own(found.port):
            return None
        return self.on(found.port, found.neighbor)

    def of_underlay(self, destination: Address) -> Place | None:
        """The neighbour for an underlay packet: on a subnet of a core port, or a next hop."""
        for port in self._node.core_ports:
            if any(destination in interface.network for interface in port.addresses):
                return self.on(port, destination)
        routes = [route for route in self._node.underlay if destination in route.prefix]
        for route in sorted(routes, key=lambda route: -route.prefix.prefixlen):
            for hop in route.via:
                if hop.address is not None:
                    return Place("", hop.port, 0, hop.address)
        return None

    def learned_route(self, vrf: str, address: Address) -> Place | None:
        """The neighbour of a host route found on the switch; None when it was not learned."""
        found = attachment(self._node, vrf, address)
        if found is None or found.neighbor != address or address in found.port.hosts:
            return None
        return self.on(found.port, address)

    @cached_property
    def next_hops(self) -> dict[Place, None]:
        """Neighbours that are next hops of configured routes, in their order. Found once: hosts can
        have it asked as often as they like."""
        places = {
            Place("", hop.port, 0, hop.address): None
            for route in self._node.underlay
            for hop in route.via
            if hop.address is not None
        }
        for vrf, local in self._node.vrfs.items():
            for route in local.routes:
                place = self.of_customer(vrf, route.via) if route.via is not None else None
                if place is not None and self.static_mac(place) is None:
                    places[place] = None
        return places

    @cached_property
    def _routed(self) -> tuple[IPv6Network, ...]:
        """What the configuration routes out of the subnets of core ports."""
        subnets = core_subnets(self._node)
        if not subnets:
            return ()
        prefixes = {route.prefix for route in self._node.underlay}
        prefixes |= underlay_next_hops(self._config, self._name).keys()
        return tuple(
            prefix
            for prefix in prefixes - subnets
            if any(prefix.subnet_of(subnet) for subnet in subnets)
        )

    def is_routed(self, address: IPv6Address) -> bool:
        """Whether the configuration says where packets of the underlay to this address go."""
        return any(address in prefix for prefix in self._routed)

    def is_next_hop(self, place: Place) -> bool:
        return place in self.next_hops

    def static_mac(self, place: Place) -> int | None:
        port = self.port_of(place)
        return port.hosts.get(place.address) if port is not None else None

    def routes_via(self, place: Place) -> list[Route]:
        local = self._node.vrfs.get(place.vrf)
        return [route for route in local.routes if route.via == place.address] if local else []

    def may_learn(self, port: Port, address: Address) -> bool:
        """Whether an address may be learned on a port: in its subnets, or link-local on a core; not
        what the configuration says the place of, whatever others say."""
        if address in self.own(port) or address in port.hosts:
            return False
        if gateway(port, address) is not None:
            if port.vrf:
                return self.of_customer(port.vrf, address) == self.on(port, address)
            return isinstance(address, IPv4Address) or not self.is_routed(address)
        return port.role == "core" and address.version == 6 and address.is_link_local
