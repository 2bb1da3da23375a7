#ifndef FCN_SERVICE_TERMINATION_P4
#define FCN_SERVICE_TERMINATION_P4

// ServiceTermination: which VRF a tunnelled packet belongs to, should the tunnel end here (FCN-5).
// Reads:  underlay destination; meta.tunnel_type, meta.tunnel_id.
// Writes: meta.vrf, meta.is_service_sid, meta.is_known_tunnel.
// When:   every packet from a core port that is no notification for this node.
control ServiceTermination(in ipv6_addr_t dst, inout meta_t meta) {
    action end_dt46(vrf_t vrf) {
        meta.is_service_sid = true;
        meta.vrf = vrf;
    }
    action no_service() { }

    // RFC 8986 section 4.8, End.DT46
    PLACE_AT(1) @name(".service_sid")
    table service_sid {
        key = {
            dst: exact @name("dst");
        }
        actions = {
            @tableonly end_dt46;
            @defaultonly no_service;
        }
        const default_action = no_service;
        size = SERVICE_SID_TABLE_SIZE;
    }

    action set_tunnel_vrf(vrf_t vrf) {
        meta.is_known_tunnel = true;
        meta.vrf = vrf;
    }
    action unknown_tunnel() { }

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
        service_sid.apply();
        if (!meta.is_service_sid && meta.tunnel_type != TunnelType.NONE) {
            tunnel_vrf.apply();
        }
    }
}

#endif
