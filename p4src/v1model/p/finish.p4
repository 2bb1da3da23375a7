#ifndef FCN_P_FINISH_P4
#define FCN_P_FINISH_P4

#include "../../base/v1model/p.p4"
#include "../../base/rate_limits.p4"

// Finish: a packet leaves ingress, goes to the controller, or is dropped and counted.
// Reads:  meta.base.drop_reason, punt_reason, is_done, egress_port.
// Writes: standard_metadata.egress_spec; counters. Ends the pass.
// When:   last.
control Finish(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    PuntLimit() punt_limit;
    LinkDead() link_dead;

    apply {
        // What most packets are comes first: BMv2 pays for each condition.
        if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason == PuntReason.NONE
                && !meta.base.is_done) {
            standard_metadata.egress_spec = meta.base.egress_port;
            exit;
        }
        if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason != PuntReason.NONE) {
            color_t punt_color = GREEN;
            punt_limit.apply(NO_VRF, punt_color);
            if (punt_color != GREEN) {
                vrf_refused.count(VRF_CELL(NO_VRF));
                meta.base.drop_reason = DropReason.PUNT_RATE_LIMIT;
            }
        }
        if (meta.base.drop_reason != DropReason.NONE) {
            drops.count(meta.base.drop_reason);
            mark_to_drop(standard_metadata);
            link_dead.apply(hdr, meta, standard_metadata);
        } else if (meta.base.punt_reason != PuntReason.NONE) {
            punts.count(meta.base.punt_reason);
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = meta.base.ingress_port;
            hdr.packet_in.reason = meta.base.punt_reason;
            hdr.packet_in.vlan_id = 0;
            hdr.packet_in.vrf = 0;
            standard_metadata.egress_spec = CPU_PORT;
        } else {
            mark_to_drop(standard_metadata);
        }
    }
}

#endif
