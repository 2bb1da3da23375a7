#ifndef FCN_SERVICE_TERMINATION_P4
#define FCN_SERVICE_TERMINATION_P4

// ServiceTermination: which VRF a tunnelled packet belongs to (FCN-5).
// Reads:  underlay destination; meta.is_local, meta.tunnel_type, meta.tunnel_id; SRH.
// Writes: meta.is_service_sid, meta.vrf, meta.forward (VRF); meta.drop_reason for a tunnel nobody
//         configured or an SRH with segments left.
// When:   every packet from a core port that is not a notification.
control ServiceTermination(in ipv6_addr_t dst, in srh_h srh, inout meta_t meta) {
    action end_dt46(vrf_t vrf) {
        meta.is_service_sid = true;
        meta.vrf = vrf;
        meta.forward = Forward.VRF;
    }
    action no_service() { }

    // RFC 8986 section 4.8, End.DT46
    @name(".service_sid")
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
        meta.vrf = vrf;
        meta.forward = Forward.VRF;
    }
    action unknown_tunnel() {
        meta.drop_reason = DropReason.UNKNOWN_TUNNEL;
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
        service_sid.apply();
        if (meta.is_service_sid) {
            if (srh.isValid() && srh.segments_left != 0) {
                meta.drop_reason = DropReason.SRH_INVALID;
            }
        } else if (meta.is_local && meta.tunnel_type != TunnelType.NONE) {
            tunnel_vrf.apply();
        }
    }
}

#endif
