"""Routes of customers on a PE, and the answers to hosts that look for their gateway."""

from collections.abc import Mapping
from ipaddress import ip_network

from fcn.contract.names import ROUTE_TABLES
from fcn.controller.config.addressing import NEVER_FORWARDED, attachment, covers, link_local
from fcn.controller.config.notation import Address, Network
from fcn.controller.config.paths import policy_numbers
from fcn.controller.owners.gateway import Gateway
from fcn.controller.owners.vrf_routing import VrfRouting
from fcn.controller.provision.node_intent import NodeIntent


def route_customers(
    to: NodeIntent, routing: VrfRouting, tunnels: Mapping[tuple[str, str], int]
) -> None:
    """Connected and configured routes of each VRF. tunnels: their numbers, by name and VRF."""
    for port in to.node.dc_ports:
        assert port.vrf is not None, "config/check.py saw to it"
        for interface in port.addresses:
            routing.resolve(to.vrf_id(port.vrf), interface.network)
    for port in to.node.dc_ports:
        assert port.vrf is not None, "config/check.py saw to it"
        vrf = to.vrf_id(port.vrf)
        for interface in port.addresses:
            routing.own(vrf, interface.ip)
        for host, mac in port.hosts.items():
            routing.deliver(vrf, ip_network(host), port.number, port.vlan, to.mac(port), mac)
    policies = policy_numbers(to.node)
    for name, local in to.node.vrfs.items():
        vrf = to.vrf_id(name)
        for route in local.routes:
            if route.tunnel is not None:
                routing.tunnel(vrf, route.prefix, tunnels[route.tunnel, name])
            elif route.policy is not None:
                routing.tunnel(vrf, route.prefix, policies[route.policy, name])
            elif route.via is not None:
                _route_via(to, routing, name, route.prefix, route.via)
            else:
                routing.discard(vrf, route.prefix)
        for network in NEVER_FORWARDED:
            if any(covers(route.prefix, network) for route in local.routes):
                routing.discard(vrf, network)


def _route_via(
    to: NodeIntent, routing: VrfRouting, vrf_name: str, prefix: Network, next_hop: Address
) -> None:
    """Install the route now for a static host; otherwise when the next hop is resolved."""
    vrf = to.vrf_id(vrf_name)
    found = attachment(to.node, vrf_name, next_hop)
    mac = found.port.hosts.get(next_hop) if found else None
    if found is None or mac is None:
        routing.resolve(vrf, prefix)
    else:
        port = found.port
        routing.deliver(vrf, prefix, port.number, port.vlan, to.mac(port), mac)


def answer_for_gateways(to: NodeIntent) -> None:
    """The PE's addresses on DC ports, with the link-local address where it has an IPv6 one."""
    gateway = Gateway(to.intent)
    for port in to.node.dc_ports:
        mac = to.mac(port)
        addresses: set[Address] = {interface.ip for interface in port.addresses}
        if any(address.version == 6 for address in addresses):
            addresses.add(link_local(mac))
        for address in sorted(addresses, key=str):
            gateway.answer(port.number, port.vlan, address, mac)
    gateway.report_askers()


def room_of_hosts(to: NodeIntent) -> dict[int, int]:
    """How many hosts may have a route, by IP version: the tables but for the configuration."""
    if not to.is_pe:
        return {}
    vias = {route.via for local in to.node.vrfs.values() for route in local.routes}
    room = {}
    for version, table in ROUTE_TABLES.items():
        next_hops = sum(via is not None and via.version == version for via in vias)
        taken = to.intent.count(table) + next_hops
        room[version] = max(0, to.pipeline.table_size(table) - taken)
    return room
