#ifndef FCN_PE_LEARN_FLOW_P4
#define FCN_PE_LEARN_FLOW_P4

#include "../../base/v1model/pe.p4"
#include "../../learning/flow_learning.p4"
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
        if (meta.base.role == Role.DC && (meta.cm.is_valid || meta.is_roce_flow)) {
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

#endif
