#ifndef FCN_TNA_P_CONGESTED_FLOW_P4
#define FCN_TNA_P_CONGESTED_FLOW_P4

#include "../../fast_cnp/tna/flow_gate.p4"
#include "../p_metadata.p4"

// CongestedFlow: is the ingress PE of this packet, or its sender, told of the queue (FCN-8, FCN-11)?
// Reads:  md.meta.base.mode, level_notifies, level_interval, now; underlay header.
// Writes: md.wanted; md.gate_passed: it is time; md.mirror.kind; what the modes' steps write, which may go first.
// When:   behind Leave.
control CongestedFlow(
        inout p_pass_headers_t hdr, inout tna_p_meta_t md, in egress_intrinsic_metadata_t eg_intr_md) {
    HoldAsk() hold_ask;
    PathAsk() path_ask;
    FlowGate(FLOW_GATE_SIZE) fast_cnp_gate;

    apply {
        hold_ask.apply(eg_intr_md, hdr, md);
        md.mirror.kind = md.meta.base.mode.congestion_kind;
        if (md.meta.base.level_notifies == 1 && BY_FLOW(md.meta.base.mode.congestion_kind) && FCN_PACKET(hdr)
                && !ASKED(md)) {
            fast_cnp_gate.apply(
                false, hdr.p.outer_ipv6.flow_label[15:0], md.meta.base.level_interval, md.meta.base.now,
                md.gate_passed);
            md.wanted = true;
        }
        path_ask.apply(eg_intr_md, hdr, md);
    }
}

#endif
