#ifndef FCN_TUNNEL_ARRIVAL_P4
#define FCN_TUNNEL_ARRIVAL_P4

#include "../base/headers.p4"
#include "../base/pe_metadata.p4"

// TunnelArrival: what is done with a packet for this node's address or one of its service SIDs. Other than
// in transit, it must be sound throughout.
// Reads:  meta.unsupported_tunnel, meta.parse_failed, meta.base.destination, SRH, meta.tunnel_type,
//         meta.is_known_tunnel, meta.customer_fault.
// Writes: meta.base.forward, meta.base.punt_reason, meta.base.drop_reason.
// When:   packets of class TUNNEL_END.
control TunnelArrival(in srh_h srh, inout pe_meta_t meta) {
    action refuse(DropReason reason) {
        meta.base.drop_reason = reason;
    }
    action punt_to_cpu(PuntReason reason) {
        meta.base.punt_reason = reason;
    }
    action route_in_vrf() {
        meta.base.forward = Forward.VRF;
    }
    action refuse_customer_packet() {
        meta.base.drop_reason = meta.customer_fault;
    }

    PLACED(tunnel_arrival) @name(".tunnel_arrival")
    table tunnel_arrival {
        key = {
            meta.unsupported_tunnel: ternary @name("unsupported_tunnel");
            meta.parse_failed: ternary @name("parse_failed");
            meta.base.destination: ternary @name("destination");
            srh.isValid(): ternary @name("has_srh");
            srh.segments_left: ternary @name("segments_left");
            meta.tunnel_type: ternary @name("tunnel_type");
            meta.is_known_tunnel: ternary @name("is_known_tunnel");
            meta.customer_fault: ternary @name("customer_fault");
        }
        actions = {
            refuse;
            punt_to_cpu;
            route_in_vrf;
            refuse_customer_packet;
        }
        const default_action = refuse(DropReason.UNKNOWN_TUNNEL);
        const entries = {
            (true, _, _, _, _, _, _, _): refuse(DropReason.UNSUPPORTED);
            (_, true, _, _, _, _, _, _): refuse(DropReason.MALFORMED);

            // A service SID must be the last segment, with the customer's packet right behind it (RFC 8986
            // section 4.8): the ID of another tunnel would say another VRF.
            (_, _, Destination.SERVICE_SID, false, _, TunnelType.NONE, _, DropReason.NONE): route_in_vrf();
            (_, _, Destination.SERVICE_SID, true, 0, _, _, DropReason.NONE): route_in_vrf();
            (_, _, Destination.SERVICE_SID, false, _, TunnelType.NONE, _, _): refuse_customer_packet();
            (_, _, Destination.SERVICE_SID, true, 0, _, _, _): refuse_customer_packet();
            (_, _, Destination.SERVICE_SID, true, _, _, _, _): refuse(DropReason.SRH_INVALID);
            (_, _, Destination.SERVICE_SID, _, _, _, _, _): refuse(DropReason.UNSUPPORTED);

            (_, _, _, _, _, TunnelType.NONE, _, _): punt_to_cpu(PuntReason.UNDERLAY_LOCAL);
            (_, _, _, _, _, _, true, DropReason.NONE): route_in_vrf();
            (_, _, _, _, _, _, true, _): refuse_customer_packet();
        }
    }

    apply {
        tunnel_arrival.apply();
    }
}

#endif
