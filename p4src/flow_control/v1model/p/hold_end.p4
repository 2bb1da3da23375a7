#ifndef FCN_FLOW_CONTROL_P_HOLD_END_P4
#define FCN_FLOW_CONTROL_P_HOLD_END_P4

#include "../../../base/v1model/p.p4"
#include "../copy_for_neighbor.p4"

// HoldEnd: one more copy for the neighbour; what waits goes round.
// Reads:  meta.base.asks, tells, stays.
// When:   in egress, last but for checksums. Ends the pass of what does not leave.
control HoldEnd(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    CopyForNeighbor() copy_for_neighbor;

    apply {
        if (meta.base.asks != NotificationKind.NONE) {
            copy_for_neighbor.apply(meta.base);
        }
        if (meta.base.stays) {
            meta.base.now = standard_metadata.egress_global_timestamp;
            recirculate_preserving_field_list(KEEP_PARKED);
            exit;
        }
    }
}

#endif
