#ifndef FCN_TWO_THRESHOLD_PE_LIGHT_FLOW_P4
#define FCN_TWO_THRESHOLD_PE_LIGHT_FLOW_P4

#include "../../../base/v1model/pe.p4"
#include "../light_treatment.p4"

// LightFlow: lightly congested flows are slowed down or take another tunnel (PEC-3).
// Reads:  meta.flow_label_assigned, meta.two_threshold.hold.
// Writes: what LightTreatment writes.
// When:   a packet has its flow label and its tunnel, before TunnelEncap.
control LightFlow(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    LightTreatment() light_treatment;

    apply {
        if (meta.flow_label_assigned && meta.two_threshold.hold != 0) {
            light_treatment.apply(meta, meta.base.now);
            if (meta.two_threshold.treatment != FlowTreatment.NONE) {
                events.count(meta.event);
            }
        }
    }
}

#endif
