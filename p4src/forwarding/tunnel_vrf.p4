#ifndef FCN_TUNNEL_VRF_P4
#define FCN_TUNNEL_VRF_P4

#include "../base/headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// TunnelVrf: which VRF a packet in a VXLAN, GRE or MPLS tunnel belongs to, should the tunnel end here (FCN-5).
// Reads:  meta.tunnel_type, meta.tunnel_id, MPLS labels.
// Writes: meta.base.vrf, meta.is_known_tunnel, meta.tunnel_id of MPLS.
// When:   every packet from a core port that is no notification for this node.
control TunnelVrf(in tunnel_headers_t tunnel, inout pe_meta_t meta) {
    action set_tunnel_vrf(vrf_t vrf) {
        meta.is_known_tunnel = true;
        meta.base.vrf = vrf;
    }
    action unknown_tunnel() { }
    action take_only_label() {
        meta.tunnel_id[19:0] = tunnel.mpls0.label;
    }
    action take_second_label() {
        meta.tunnel_id[19:0] = tunnel.mpls1.label;
    }

    @name(".tunnel_vrf")
    table tunnel_vrf {
        key = {
            meta.tunnel_type: exact @name("tunnel_type");
            meta.tunnel_id: exact @name("tunnel_id");
        }
        actions = {
            @tableonly set_tunnel_vrf;
            @defaultonly unknown_tunnel;
        }
        const default_action = unknown_tunnel;
        size = TUNNEL_VRF_TABLE_SIZE;
    }

    apply {
        if (tunnel.mpls1.isValid()) {
            take_second_label();
        } else if (tunnel.mpls0.isValid()) {
            take_only_label();
        }
        if (meta.tunnel_type != TunnelType.NONE) {
            tunnel_vrf.apply();
        }
    }
}

#endif
