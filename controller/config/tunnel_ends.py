"""Addresses and SIDs in the outer headers of a PE's tunnels."""

from ipaddress import IPv6Address

from fcn.controller.config.model import Config, Tunnel
from fcn.controller.config.modes import Notification


def tunnel_source(config: Config, node_name: str, tunnel: Tunnel, vrf: str) -> IPv6Address:
    """The outer source address of a VRF's packets: where notifications about them go."""
    node = config.nodes[node_name]
    if config.notification is Notification.END_CON:
        sid = node.vrfs[vrf].end_con_sid
        assert sid is not None, "config/check_end_con.py saw to it"
        return sid
    return tunnel.source or node.underlay_address


def end_con_sids(config: Config, node_name: str) -> list[IPv6Address]:
    """The END.CON SIDs of other nodes: notifications pass this one on their way there."""
    return [
        vrf.end_con_sid
        for name, node in config.nodes.items()
        for vrf in node.vrfs.values()
        if name != node_name and vrf.end_con_sid is not None
    ]


def tunnel_sids(config: Config, tunnel: Tunnel, vrf: str) -> tuple[IPv6Address, ...]:
    """The SIDs of an SRv6 tunnel, in the order of the path."""
    if tunnel.to is None:
        return tunnel.sids
    service_sid = config.nodes[tunnel.to].vrfs[vrf].service_sid
    assert service_sid is not None, "config/check.py saw to it"
    return (*(config.nodes[name].end_sids[0] for name in tunnel.via), service_sid)


def tunnel_egress(config: Config, tunnel: Tunnel) -> IPv6Address:
    """The outer destination address of a tunnel of another type."""
    egress = config.nodes[tunnel.to].underlay_address if tunnel.to is not None else tunnel.egress
    assert egress is not None, "config/model.py saw to it"
    return egress


def has_srh(tunnel: Tunnel, sids: tuple[IPv6Address, ...]) -> bool:
    """Whether the packets of a tunnel carry a segment routing header: in the reduced form a single
    SID is in the destination address only (RFC 8986 section 5.2)."""
    return tunnel.type == "srv6" and (tunnel.mode == "encaps" or len(sids) > 1)
