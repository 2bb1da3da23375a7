"""VrfRouting: the routes of customers (p4src/forwarding/vrf_routing.p4)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_network

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.names import ROUTE_TABLES
from fcn.controller.config.notation import Address, Network
from fcn.controller.owners.tables import Tables

_ADDRESS: dict[str, type[IPv4Address] | type[IPv6Address]] = {
    ROUTE_TABLES[4]: IPv4Address,
    ROUTE_TABLES[6]: IPv6Address,
}


@dataclass(frozen=True, slots=True)
class HostRoute:
    """An entry: a host on a DC port and the MAC address it is delivered to."""

    vrf: int
    address: Address
    mac: int


class VrfRouting(Tables):
    """Longest-prefix routes per VRF; MAC addresses are 48-bit numbers."""

    def deliver(
        self, vrf: int, prefix: Network, port: int, vlan: int, src_mac: int, dst_mac: int
    ) -> None:
        """Forward packets to the prefix out of a DC port to `dst_mac`, a host or a router."""
        action = P4TableAction("to_dc", port=port, vlan_id=vlan, src_mac=src_mac, dst_mac=dst_mac)
        self._route(vrf, prefix, action)

    def tunnel(self, vrf: int, prefix: Network, tunnel: int) -> None:
        """Forward packets to the prefix through a tunnel."""
        self._route(vrf, prefix, P4TableAction("to_tunnel", tunnel=tunnel))

    def resolve(self, vrf: int, prefix: Network) -> None:
        """Punt packets to the prefix, so that the controller resolves the neighbour."""
        self._route(vrf, prefix, P4TableAction("glean"))

    def own(self, vrf: int, gateway: Address) -> None:
        """Punt packets to an address of the node."""
        self._route(vrf, ip_network(gateway), P4TableAction("to_local"))

    def discard(self, vrf: int, prefix: Network) -> None:
        """Packets to the prefix are dropped and counted."""
        self._route(vrf, prefix, P4TableAction("blackhole"))

    def withdraw(self, vrf: int, prefix: Network) -> None:
        """Remove the route of exactly this prefix."""
        self.intent.drop(self._entry(vrf, prefix, None))

    @staticmethod
    def hosts_in(entries: Iterable[P4TableEntry]) -> Iterator[HostRoute]:
        """Hosts among entries read from a switch; ignores other routes and tables."""
        for entry in entries:
            address, action = _ADDRESS.get(entry.table_id), entry.action
            if address is None or not isinstance(action, P4TableAction) or action.name != "to_dc":
                continue
            # The entry of a default route has no match on its destination.
            if entry.match is None or "dst" not in entry.match:
                continue
            value, length = entry["dst"]
            host = address(value)
            if length == host.max_prefixlen:
                yield HostRoute(entry["vrf"], host, action.args["dst_mac"])

    def _route(self, vrf: int, prefix: Network, action: P4TableAction) -> None:
        self.intent.put(self._entry(vrf, prefix, action))

    @staticmethod
    def _entry(vrf: int, prefix: Network, action: P4TableAction | None) -> P4TableEntry:
        # A prefix of length 0 matches everything and is left out of the match.
        match = P4TableMatch(vrf=vrf, dst=prefix)
        return P4TableEntry(ROUTE_TABLES[prefix.version], match=match, action=action)
