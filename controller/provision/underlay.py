"""The underlay: a node's own addresses there, whom it believes, and its routes."""

from ipaddress import IPv6Network

from fcn.controller.config.addressing import core_subnets, underlay_next_hops
from fcn.controller.owners.endpoint import Endpoint
from fcn.controller.owners.trust_boundary import TrustBoundary
from fcn.controller.owners.underlay import Underlay
from fcn.controller.provision.node_intent import NodeIntent


def own_addresses(to: NodeIntent) -> None:
    """The destinations that are the node's own."""
    endpoint = Endpoint(to.intent)
    for address in sorted(to.underlay_addresses()):
        endpoint.own(address)
    for sid in to.node.end_sids:
        endpoint.end_segment(sid)


def trust_sources(to: NodeIntent) -> None:
    """Sources of notifications that a PE believes (FCN-17)."""
    prefixes = to.config.trusted_prefixes
    if prefixes is None:
        prefixes = tuple(IPv6Network(node.underlay_address) for node in to.config.nodes.values())
    trust = TrustBoundary(to.intent)
    for prefix in sorted(set(prefixes)):
        trust.trust(prefix)


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
