"""The underlay: a node's own addresses there, whom it believes, and its routes."""

from ipaddress import IPv6Network

from fcn.controller.config.addressing import core_subnets, underlay_next_hops
from fcn.controller.owners.underlay import Underlay
from fcn.controller.provision.node_intent import NodeIntent


def own_addresses(to: NodeIntent) -> None:
    """The destinations that are the node's own; those that are End SIDs (RFC 8986 section 4.1)."""
    for address in sorted(to.underlay_addresses()):
        to.tables.put("endpoint", {"dst": address}, "local_address")
    for sid in to.node.end_sids:
        to.tables.put("endpoint", {"dst": sid}, "end")


def trust_sources(to: NodeIntent) -> None:
    """Sources of notifications that a PE believes (FCN-17)."""
    prefixes = to.config.trusted_prefixes
    if prefixes is None:
        prefixes = tuple(IPv6Network(node.underlay_address) for node in to.config.nodes.values())
    for prefix in sorted(set(prefixes)):
        to.tables.put("trusted_source", {"src": prefix}, "trust")


def route_underlay(to: NodeIntent, underlay: Underlay) -> None:
    """Shortest paths over links of the configuration, and its own routes."""
    for prefix, hops in underlay_next_hops(to.config, to.name).items():
        underlay.route(prefix, [to.link_adjacency(*hop) for hop in hops])
    for subnet in sorted(core_subnets(to.node)):
        underlay.resolve(subnet)
    for route in to.node.underlay:
        known = [to.adjacency(hop.port, hop.mac) for hop in route.via if hop.mac is not None]
        if known:
            underlay.route(route.prefix, known)
        else:
            underlay.resolve(route.prefix)
