#ifndef FCN_PE_ENTER_TUNNEL_P4
#define FCN_PE_ENTER_TUNNEL_P4

#include "../../base/v1model/pe.p4"
#include "../../forwarding/tunnel_encap.p4"
#include "../../forwarding/v1model/entropy.p4"
#include "../../learning/flow_learning.p4"
#include "../../learning/flow_table.p4"
#include "../../learning/v1model/report.p4"

// LearnFlow
// Reads:  meta.cm, meta.is_roce_flow, meta.flow_label_assigned, meta.flow_watched.
// Writes: nothing of the packet; counter vrf_refused.
// When:   behind FlowTable.
control LearnFlow(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    FlowLearning() flow_learning;
    Report() report;

    apply {
        if (meta.base.role == Role.DC
                && (meta.cm.is_valid || (meta.is_roce_flow
                    && (!meta.flow_label_assigned || meta.flow_watched)))) {
            flow_learning.apply(meta);
            if (meta.learning_enabled == 1) {
                bool refused;
                report.apply(hdr, meta, meta.base.now, refused);
                if (refused) {
                    vrf_refused.count(VRF_CELL(meta.base.vrf));
                }
            }
        }
    }
}

// EnterTunnel: a customer's packet gets its path, its flow label, and its underlay header (FCN-2, FCN-5, FAN-4). Flows are
// reported for learning (FCN-3).
// Reads:  customer headers, meta.tunnel.
// Writes: what its controls write; meta.base.forward (UNDERLAY) or meta.base.drop_reason.
// When:   meta.base.forward == Forward.TUNNEL.
control EnterTunnel(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PathChosen() path_chosen;
    FlowTable() flow_table;
    LearnFlow() learn_flow;
    LightFlow() light_flow;
    TunnelEncap() tunnel_encap;
    HoldEncap() hold_encap;
    Entropy() entropy;

    apply {
        path_chosen.apply(hdr, meta, standard_metadata);
        flow_table.apply(hdr.ipv4, hdr.ipv6, hdr.roce.bth, meta);
        learn_flow.apply(hdr, meta, standard_metadata);
        light_flow.apply(hdr, meta, standard_metadata);
        tunnel_encap.apply(hdr, meta);
        hold_encap.apply(hdr, meta, standard_metadata);
        // The hash is expensive here, and not needed for a labelled flow in SRv6 or GRE.
        if (!meta.flow_label_assigned || hdr.tunnel.udp.isValid()) {
            entropy.apply(hdr, meta);
            if (!meta.flow_label_assigned) {
                hdr.outer_ipv6.flow_label = meta.entropy[19:0] & ENTROPY_LABEL_MASK;
            }
            if (hdr.tunnel.udp.isValid()) {
                hdr.tunnel.udp.src_port = meta.entropy[15:0] | ENTROPY_PORTS;
            }
        }
    }
}

#endif
