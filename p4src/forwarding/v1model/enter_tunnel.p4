#ifndef FCN_ENTER_TUNNEL_P4
#define FCN_ENTER_TUNNEL_P4

// EnterTunnel: a customer's packet gets its path, its flow label, and its underlay header (FCN-2, FCN-5, FAN-4). Flows are
// reported for learning (FCN-3); lightly congested ones are treated (PEC-4).
// Reads:  customer headers, meta.tunnel; time now in microseconds.
// Writes: what its controls write; meta.base.forward (UNDERLAY) or meta.base.drop_reason.
// When:   meta.base.forward == Forward.TUNNEL.
control EnterTunnel(inout pe_headers_t hdr, inout pe_meta_t meta, in bit<48> now) {
    ChoosePath() choose_path;
    Entropy() entropy;
    FlowTable() flow_table;
    FlowLearning() flow_learning;
    Report() report;
    LightTreatment() light_treatment;
    TunnelEncap() tunnel_encap;

    apply {
        if (IS_POLICY(meta.tunnel)) {
            choose_path.apply(hdr, meta, now);
        }
        flow_table.apply(hdr.ipv4, hdr.ipv6, hdr.roce.bth, meta);
        if (meta.base.role == Role.DC
                && (meta.cm.is_valid || (meta.is_roce_flow
                    && (!meta.flow_label_assigned || meta.flow_watched)))) {
            flow_learning.apply(meta);
            if (meta.learning_enabled == 1) {
                bool refused;
                report.apply(hdr, meta, now, refused);
                if (refused) {
                    vrf_refused.count(VRF_CELL(meta.base.vrf));
                }
            }
        }
        if (meta.flow_label_assigned && meta.light_hold != 0) {
            light_treatment.apply(meta, now);
            if (meta.treatment != FlowTreatment.NONE) {
                events.count(meta.event);
            }
        }
        tunnel_encap.apply(hdr, meta);
        if (meta.flow_control.mode == FlowControl.PRIORITY) {
            hdr.outer_ipv6.dscp = meta.flow_control.dc_priority ++ 3w0;
        }
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
