"""Values derived from the configuration: MAC addresses, tunnel numbers, underlay routes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Address, IPv6Interface, IPv6Network, ip_network

from fcn.contract.hops import hops_from
from fcn.controller.config.model import Config, Node, Port
from fcn.controller.config.notation import Address, Network

_LOCAL_UNICAST = 0x02
NEVER_FORWARDED: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "255.255.255.255/32",
        "::/127",
        "fe80::/10",
        "ff00::/8",
    )
)
"""What no unicast route leads to: this network and loopback (RFC 1122, 3.2.1.3; RFC 4291, 2.5.2 and
2.5.3), link-local (RFC 3927, 2.7; RFC 4291, 2.5.6), groups and broadcast."""


def node_mac(name: str, node: Node) -> int:
    """The node's router MAC: as configured, or a locally administered one, a hash of its name."""
    if node.mac is not None:
        return node.mac
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(bytes([_LOCAL_UNICAST, *digest[:3], 0, 0]), "big")


def port_mac(name: str, node: Node, port: Port) -> int:
    """A port's MAC: as configured, or the node's with the port number in the last two octets."""
    if port.mac is not None:
        return port.mac
    return node_mac(name, node) & ~0xFFFF | (port.number + 1)


def link_local(mac: int) -> IPv6Address:
    """The link-local address with the modified EUI-64 of a MAC (RFC 4291 appendix A)."""
    high, low = mac >> 24, mac & 0xFFFFFF
    interface_id = (high ^ _LOCAL_UNICAST << 16) << 40 | 0xFFFE << 24 | low
    return IPv6Address(0xFE80 << 112 | interface_id)


def never_forwarded(prefix: Network) -> Network | None:
    """The one of NEVER_FORWARDED that all addresses of a prefix are in."""
    return next((each for each in NEVER_FORWARDED if covers(each, prefix)), None)


def covers(prefix: Network, other: Network) -> bool:
    """Whether each address of the other prefix is of this one, too."""
    return (
        prefix.version == other.version
        and prefix.prefixlen <= other.prefixlen
        and other.network_address in prefix
    )


def vrf_names(config: Config) -> dict[int, str]:
    return {vrf.id: name for name, vrf in config.vrfs.items()}


def tunnel_numbers(node: Node) -> dict[tuple[str, str], int]:
    """The number, from 1, in table `tunnel` of each (tunnel, VRF) that a route names or that flows
    may be rerouted to, but for paths of policies: first_tunnels() has those."""
    found = used_tunnels(node)
    added = found
    while added:
        nexts = {
            (node.tunnels[name].next, vrf_name) for name, vrf_name in added if name in node.tunnels
        }
        added = {(name, vrf_name) for name, vrf_name in nexts if name is not None} - found
        found |= added
    others = sorted(found - _tunnels_of_paths(node))
    return {pair: number for number, pair in enumerate(others, start=1)}


def used_tunnels(node: Node) -> set[tuple[str, str]]:
    """Each (tunnel, VRF) that a route uses, itself or as a path of its policy."""
    return _tunnels_of_paths(node) | {
        (route.tunnel, vrf_name)
        for vrf_name, vrf in node.vrfs.items()
        for route in vrf.routes
        if route.tunnel is not None
    }


def _tunnels_of_paths(node: Node) -> set[tuple[str, str]]:
    return {
        (path.tunnel, vrf_name)
        for vrf_name, vrf in node.vrfs.items()
        for route in vrf.routes
        if route.policy is not None and (policy := node.policies.get(route.policy)) is not None
        for path in (*policy.paths, *(policy.backup or ()))
    }


def own_prefixes(node: Node) -> set[IPv6Network]:
    """Prefixes the underlay routes to the node: its addresses, SIDs (or locator), core subnets."""
    sids = list(node.end_sids)
    for vrf in node.vrfs.values():
        sids += [sid for sid in (vrf.service_sid, vrf.end_con_sid) if sid is not None]
    prefixes = {IPv6Network(node.underlay_address)}
    if node.locator is not None:
        prefixes.add(node.locator)
    else:
        prefixes |= {IPv6Network(sid) for sid in sids}
    prefixes |= {IPv6Network(network) for network in core_subnets(node)}
    return prefixes


def untrusted_nodes(config: Config) -> dict[str, IPv6Address]:
    """Nodes whose notifications PEs drop (FCN-17), by name, with their underlay addresses."""
    trusted = config.trusted_prefixes
    return {
        name: node.underlay_address
        for name, node in config.nodes.items()
        if trusted is not None and not any(node.underlay_address in prefix for prefix in trusted)
    }


def core_subnets(node: Node) -> set[IPv6Network]:
    return {
        interface.network
        for port in node.core_ports
        for interface in port.addresses
        if isinstance(interface, IPv6Interface)
    }


Hop = tuple[int, str, int]
"""Own port, neighbour, neighbour's port."""


def underlay_next_hops(config: Config, source: str) -> dict[IPv6Network, list[Hop]]:
    """Shortest paths over `links` by destination prefix.

    All links have the same cost; every next hop on a shortest path is listed (ECMP). Prefixes of
    the source node itself are left out.
    """
    links = underlay_links(config)
    distance = {name: distances(links, name) for name in config.nodes}
    routes: dict[IPv6Network, list[Hop]] = {}
    for prefix, nodes in prefix_owners(config, source).items():
        reachable = [name for name in nodes if name in distance[source]]
        best = min((distance[source][name] for name in reachable), default=0)
        hops = {
            hop
            for name in reachable
            if distance[source][name] == best
            for hop in links[source]
            if distance[hop[1]].get(name, best) == best - 1
        }
        if hops:
            routes[prefix] = sorted(hops)
    return routes


def underlay_links(config: Config) -> dict[str, list[Hop]]:
    links: dict[str, list[Hop]] = {name: [] for name in config.nodes}
    for (near, near_port), (far, far_port) in config.link_ends():
        links[near].append((near_port, far, far_port))
        links[far].append((far_port, near, near_port))
    return links


def prefix_owners(config: Config, source: str) -> dict[IPv6Network, list[str]]:
    """The nodes that have each prefix of the underlay, without those of the source node itself."""
    own = own_prefixes(config.nodes[source])
    owners: dict[IPv6Network, list[str]] = {}
    for name, node in config.nodes.items():
        for prefix in sorted(own_prefixes(node) - own):
            owners.setdefault(prefix, []).append(name)
    return owners


def distances(links: Mapping[str, Sequence[Hop]], start: str) -> dict[str, int]:
    """Hops to each node that can be reached."""
    return hops_from(start, lambda name: (peer for _, peer, _ in links[name]))


@dataclass(frozen=True, slots=True)
class Attachment:
    """Where a customer address is attached: DC port, and the host or router (`neighbor`) there."""

    port: Port
    neighbor: Address
    prefix_length: int


def attachment(node: Node, vrf: str, address: Address) -> Attachment | None:
    """The longest-prefix match for an address on a node; None when it is not on a DC port."""
    connected = [
        Attachment(port, address, ip_network(host).prefixlen)
        for port in node.dc_ports
        for host in port.hosts
        if port.vrf == vrf and host == address
    ]
    connected += [
        Attachment(port, address, interface.network.prefixlen)
        for port in node.dc_ports
        for interface in port.addresses
        if port.vrf == vrf and address in interface.network
    ]
    best = max(connected, key=lambda found: found.prefix_length, default=None)
    routes = node.vrfs[vrf].routes if vrf in node.vrfs else ()
    matching = [route for route in routes if address in route.prefix]
    route = max(matching, key=lambda route: route.prefix.prefixlen, default=None)
    if route is None or (best and best.prefix_length >= route.prefix.prefixlen):
        return best
    hop = attachment(node, vrf, route.via) if route.via is not None else None
    return Attachment(hop.port, hop.neighbor, route.prefix.prefixlen) if hop else None


def locate(config: Config, vrf: str, address: Address) -> list[str]:
    """The PEs a customer address is attached to, most specific prefix first."""
    found = [
        (-place.prefix_length, name)
        for name, node in config.nodes.items()
        if (place := attachment(node, vrf, address)) is not None
    ]
    return [name for _, name in sorted(found)]


def gateway(port: Port, address: Address) -> IPv4Interface | IPv6Interface | None:
    """The node's own address in the subnet of `address` on a port."""
    for interface in port.addresses:
        if address in interface.network:
            return interface
    return None


def cnp_source(node: Node, vrf: str, sender: Address, peer: Address) -> Address | None:
    """Source of the CNPs to `sender` (FCN-13); None when the PE has no address of that version."""
    if node.cnp.source == "peer":
        return peer
    configured = node.cnp.ipv4_source if sender.version == 4 else node.cnp.ipv6_source
    if configured is not None:
        return configured
    found = attachment(node, vrf, sender)
    if found is not None:
        interface = gateway(found.port, found.neighbor)
        if interface is not None:
            return interface.ip
    if sender.version == 6:
        return node.underlay_address
    return next(
        (
            interface.ip
            for port in node.dc_ports
            if port.vrf == vrf
            for interface in port.addresses
            if interface.version == 4
        ),
        None,
    )
