// The two-threshold mode at a P (PEC-1): its step in p.p4.
#ifndef FCN_TWO_THRESHOLD_P_P4
#define FCN_TWO_THRESHOLD_P_P4

#include "../../base/v1model/externs.p4"
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "curve_mark.p4"

// CurveMarking
// Writes: meta.base.level_mark.
// When:   a packet leaves by a wire, behind QueueLevel.
control CurveMarking(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    CurveMark() curve_mark;

    apply {
        curve_mark.apply(standard_metadata, meta.base);
    }
}

#endif
