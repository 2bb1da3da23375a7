#ifndef FCN_PE_FINISH_P4
#define FCN_PE_FINISH_P4

#include "../../base/v1model/pe.p4"
#include "../../forwarding/underlay.p4"
#include "../../forwarding/v1model/frame_length.p4"
#include "limit_punts.p4"

// ToWan: the next hop of a packet of the underlay.
// Writes: what Underlay and the modes' repair write.
// When:   behind Route.
control ToWan(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    Underlay() underlay;
    LinkRepair() link_repair;

    apply {
        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta.base);
            link_repair.apply(hdr, meta, standard_metadata);
        }
    }
}

// Finish: a packet leaves ingress, goes to the controller, or is dropped and counted.
// Reads:  meta.base.drop_reason, punt_reason, is_done, egress_port; meta.answered, meta.make_cnp.
// Writes: standard_metadata.egress_spec; counters. Ends the pass.
// When:   last.
control Finish(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    CutFrame() cut_frame;
    LimitPunts() limit_punts;

    apply {
        // What most packets are comes first: BMv2 pays for each condition.
        if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason == PuntReason.NONE
                && !meta.answered && !meta.base.is_done) {
            if (meta.make_cnp) {
                notifications_sent.count(NotificationKind.CNP);
                cut_frame.apply(hdr.vlan, hdr.outer_ipv6, hdr.ipv4, hdr.ipv6);
            }
            standard_metadata.egress_spec = meta.base.egress_port;
            exit;
        }
        limit_punts.apply(hdr, meta, standard_metadata);
        if (meta.base.drop_reason != DropReason.NONE) {
            if (meta.base.drop_reason == DropReason.TRANSLATION_DISABLED) {
                notifications_received.count(meta.base.notification_kind);
            }
            drops.count(meta.base.drop_reason);
            mark_to_drop(standard_metadata);
        } else if (meta.base.punt_reason != PuntReason.NONE) {
            punts.count(meta.base.punt_reason);
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = meta.base.ingress_port;
            hdr.packet_in.reason = meta.base.punt_reason;
            hdr.packet_in.vlan_id = (bit<16>)meta.base.vlan_id;
            hdr.packet_in.vrf = meta.base.vrf;
            standard_metadata.egress_spec = CPU_PORT;
        } else if (meta.base.is_done) {
            mark_to_drop(standard_metadata);
        } else {
            standard_metadata.egress_spec = meta.base.egress_port;
        }
    }
}

#endif
