"""The routes of a switch that depend on resolved neighbours."""

from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_network

from fcn.controller.config import Config
from fcn.controller.config.model import NextHop
from fcn.controller.config.notation import Network
from fcn.controller.neighbors.places import Place, Places
from fcn.controller.owners.underlay import Adjacency, Underlay
from fcn.controller.owners.vrf_routing import VrfRouting


class NeighborRoutes:
    """Writes the routes of one node that have neighbours as next hops.

    `mac_of` returns the MAC address of a resolved neighbour: an underlay route has all resolved
    next hops.
    """

    def __init__(
        self,
        config: Config,
        name: str,
        places: Places,
        routing: VrfRouting,
        underlay: Underlay,
        mac_of: Callable[[Place], int | None],
    ) -> None:
        self._config = config
        self._node = config.nodes[name]
        self._places = places
        self._routing = routing
        self._underlay = underlay
        self._mac_of = mac_of

    def resolved(self, place: Place, mac: int) -> None:
        """Write the routes of a neighbour that was resolved to this MAC address."""
        port = self._places.port_of(place)
        if port is None:
            return
        if place.vrf == "":
            self._route_underlay(place)
            return
        vrf = self._config.vrfs[place.vrf].id
        prefixes: list[Network] = [ip_network(place.address)]
        prefixes += [route.prefix for route in self._places.routes_via(place)]
        for prefix in prefixes:
            src_mac = self._places.mac(port)
            self._routing.deliver(vrf, prefix, port.number, port.vlan, src_mac, mac)

    def lost(self, place: Place) -> None:
        """Withdraw the routes of a neighbour that no longer answers."""
        if place.vrf == "":
            self._route_underlay(place)
            return
        vrf = self._config.vrfs[place.vrf].id
        self._routing.withdraw(vrf, ip_network(place.address))
        for route in self._places.routes_via(place):
            self._routing.resolve(vrf, route.prefix)

    def _route_underlay(self, changed: Place) -> None:
        """Update the host route and the explicit routes of a neighbour."""
        address = changed.address
        # A route of the configuration stays, whoever is a next hop of others.
        if (
            isinstance(address, IPv6Address)
            and not address.is_link_local
            and not self._places.is_routed(address)
        ):
            prefix = IPv6Network(address)
            mac = self._mac_of(changed)
            if mac is not None:
                self._underlay.route(prefix, self._adjacency(changed.port, mac))
            else:
                self._underlay.withdraw(prefix)
        for route in self._node.underlay:
            if any((hop.port, hop.address) == (changed.port, changed.address) for hop in route.via):
                hops = [hop for item in route.via for hop in self._next_hop(item)]
                if hops:
                    self._underlay.route(route.prefix, hops)
                else:
                    self._underlay.resolve(route.prefix)

    def _next_hop(self, hop: NextHop) -> list[Adjacency]:
        if hop.mac is not None:
            return self._adjacency(hop.port, hop.mac)
        assert hop.address is not None, "config/model.py saw to it"
        mac = self._mac_of(Place("", hop.port, 0, hop.address))
        return self._adjacency(hop.port, mac) if mac is not None else []

    def _adjacency(self, number: int, mac: int) -> list[Adjacency]:
        port = self._node.port(number)
        return [Adjacency(number, self._places.mac(port), mac)] if port is not None else []
