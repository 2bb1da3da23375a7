// No two-threshold mode at this P; ../v1model/p.p4 has the step.
#ifndef FCN_TWO_THRESHOLD_P_P4
#define FCN_TWO_THRESHOLD_P_P4

#include "../../base/v1model/externs.p4"
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"

control CurveMarking(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

#endif
