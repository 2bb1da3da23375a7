"""Tunnels between PEs: those that end at a PE, and those that begin there (FCN-5)."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv6Address

from fcn.contract.constants import enum_members
from fcn.controller.config.addressing import node_mac
from fcn.controller.config.model import Tunnel
from fcn.controller.config.paths import NumberedTunnel
from fcn.controller.config.tunnel_ends import tunnel_egress, tunnel_sids, tunnel_source
from fcn.controller.provision.node_intent import NodeIntent


def end_tunnels(to: NodeIntent) -> None:
    """What names the VRF of a packet from the WAN: End.DT46 (RFC 8986 section 4.8), END.CON (draft
    rocev2-fcn section 4.2.2), or the number in the header of another tunnel."""
    types = enum_members("TunnelType")
    for name, local in to.node.vrfs.items():
        vrf = to.config.vrfs[name]
        if local.service_sid is not None:
            to.tables.put("service_sid", {"dst": local.service_sid}, "end_dt46", vrf=vrf.id)
        if local.end_con_sid is not None and to.target.end_con:
            to.tables.put("service_sid", {"dst": local.end_con_sid}, "end_con", vrf=vrf.id)
        numbers = {"VXLAN": vrf.vni, "GRE": vrf.gre_key, "MPLS_UDP": vrf.mpls_label}
        for kind, number in numbers.items():
            if number is not None:
                match = {"tunnel_type": types[kind], "tunnel_id": number}
                to.tables.put("tunnel_vrf", match, "set_tunnel_vrf", vrf=vrf.id)


def begin_tunnel(to: NodeIntent, numbered: NumberedTunnel) -> None:
    """What packets of a tunnel are put into."""
    tunnel, vrf_name = numbered.tunnel, numbered.vrf
    vrf = to.config.vrfs[vrf_name]
    parameters: Mapping[str, object] = {}
    if tunnel.type == "srv6":
        sids = tunnel_sids(to.config, tunnel, vrf_name)
        outer_dst = sids[0]
        action, segments = _srv6(sids, reduced=tunnel.mode == "encaps.red")
        if segments:
            parameters = {**segments, "segments_left": len(sids) - 1, "tag": numbered.tag}
    else:
        outer_dst = tunnel_egress(to.config, tunnel)
        if tunnel.type == "vxlan":
            action, parameters = "encap_vxlan", {"vni": vrf.vni, **_inner_macs(to, tunnel)}
        elif tunnel.type == "gre":
            action, parameters = "encap_gre", {"key": vrf.gre_key}
        elif tunnel.sr_label is None:
            action, parameters = "encap_mpls_udp1", {"vpn_label": vrf.mpls_label}
        else:
            labels = {"sr_label": tunnel.sr_label, "vpn_label": vrf.mpls_label}
            action, parameters = "encap_mpls_udp2", labels
    # ECT(1) means light congestion in this mode (PEC-5).
    ecn_mode = "two_threshold" if to.two_thresholds else tunnel.ecn
    to.tables.put(
        "tunnel",
        {"tunnel": numbered.number},
        action,
        src=tunnel_source(to.config, to.name, tunnel, vrf_name),
        dst=outer_dst,
        ecn_mode=enum_members("EcnEncapMode")[ecn_mode.upper()],
        **parameters,
    )


def _srv6(sids: Sequence[IPv6Address], *, reduced: bool) -> tuple[str, dict[str, int]]:
    """H.Encaps or H.Encaps.Red (RFC 8986 section 5) with SIDs in the order of the path.

    The SRH lists them in reverse order (RFC 8754 section 2). In the reduced form the first SID is
    in the destination address only, and a single SID needs no SRH.
    """
    listed = sids[1:] if reduced else sids
    segments = {f"seg{index}": int(sid) for index, sid in enumerate(reversed(listed))}
    return (f"encap_srv6_srh{len(listed)}" if listed else "encap_srv6"), segments


def _inner_macs(to: NodeIntent, tunnel: Tunnel) -> dict[str, int]:
    own = far = node_mac(to.name, to.node)
    if tunnel.inner_dst_mac is not None:
        far = tunnel.inner_dst_mac
    elif tunnel.to is not None:
        far = node_mac(tunnel.to, to.config.nodes[tunnel.to])
    return {"inner_src_mac": own, "inner_dst_mac": far}
