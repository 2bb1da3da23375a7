#ifndef FCN_FLOW_CONTROL_PE_HOLD_END_P4
#define FCN_FLOW_CONTROL_PE_HOLD_END_P4

#include "../../../base/v1model/pe.p4"
#include "../copy_for_neighbor.p4"

// HoldEnd: one more copy for the neighbour; what waits goes round.
// Reads:  meta.base.asks, tells, stays.
// When:   in egress, last but for checksums. Ends the pass of what does not leave.
control HoldEnd(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    CopyForNeighbor() copy_for_neighbor;

    apply {
        if (meta.base.asks != NotificationKind.NONE) {
            copy_for_neighbor.apply(meta.base);
        }
        if (meta.base.stays) {
            if (standard_metadata.egress_port == PARK_PORT) {
                meta.base.now = standard_metadata.egress_global_timestamp;
                recirculate_preserving_field_list(KEEP_PARKED);
            } else {
                mark_to_drop(standard_metadata);
            }
            exit;
        }
    }
}

#endif
