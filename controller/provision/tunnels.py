"""Tunnels between PEs: those that end at a PE, and those that begin there (FCN-5)."""

from fcn.controller.config.addressing import node_mac
from fcn.controller.config.paths import NumberedTunnel
from fcn.controller.config.tunnel_ends import tunnel_egress, tunnel_sids, tunnel_source
from fcn.controller.owners.service_sid import ServiceSid
from fcn.controller.owners.tunnel_encap import Outer, TunnelEncap
from fcn.controller.owners.tunnel_vrf import TunnelVrf
from fcn.controller.provision.node_intent import NodeIntent


def end_tunnels(to: NodeIntent) -> None:
    """What names the VRF of a packet from the WAN."""
    sids = ServiceSid(to.intent)
    service = TunnelVrf(to.intent)
    for name, local in to.node.vrfs.items():
        vrf = to.config.vrfs[name]
        if local.service_sid is not None:
            sids.terminate(local.service_sid, vrf.id)
        if local.end_con_sid is not None and to.target.end_con:
            sids.notify(local.end_con_sid, vrf.id)
        if vrf.vni is not None:
            service.terminate_vxlan(vrf.vni, vrf.id)
        if vrf.gre_key is not None:
            service.terminate_gre(vrf.gre_key, vrf.id)
        if vrf.mpls_label is not None:
            service.terminate_mpls_udp(vrf.mpls_label, vrf.id)


def begin_tunnel(to: NodeIntent, numbered: NumberedTunnel) -> None:
    """What packets of a tunnel are put into."""
    number, tunnel, vrf_name = numbered.number, numbered.tunnel, numbered.vrf
    encap = TunnelEncap(to.intent)
    vrf = to.config.vrfs[vrf_name]
    far = to.config.nodes[tunnel.to] if tunnel.to is not None else None
    source = tunnel_source(to.config, to.name, tunnel, vrf_name)
    # ECT(1) means light congestion in this mode (PEC-5).
    ecn_mode = "two_threshold" if to.two_thresholds else tunnel.ecn
    if tunnel.type == "srv6":
        sids = tunnel_sids(to.config, tunnel, vrf_name)
        reduced = tunnel.mode == "encaps.red"
        encap.encap_srv6(number, source, sids, reduced=reduced, ecn_mode=ecn_mode, tag=numbered.tag)
        return
    outer = Outer(source, tunnel_egress(to.config, tunnel), ecn_mode)
    if tunnel.type == "vxlan":
        assert vrf.vni is not None
        own_mac = node_mac(to.name, to.node)
        far_mac = tunnel.inner_dst_mac
        if far_mac is None:
            far_mac = node_mac(tunnel.to, far) if tunnel.to and far else own_mac
        encap.encap_vxlan(number, outer, vrf.vni, own_mac, far_mac)
    elif tunnel.type == "gre":
        assert vrf.gre_key is not None
        encap.encap_gre(number, outer, vrf.gre_key)
    else:
        assert vrf.mpls_label is not None
        encap.encap_mpls_udp(number, outer, vrf.mpls_label, tunnel.sr_label)
