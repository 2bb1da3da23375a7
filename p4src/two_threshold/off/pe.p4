// No two-threshold mode at this PE; ../v1model/pe.p4 has the steps.
#ifndef FCN_TWO_THRESHOLD_PE_P4
#define FCN_TWO_THRESHOLD_PE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/pe_headers.p4"
#include "../../base/pe_metadata.p4"

control LightMode(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LightTold(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LightFlow(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control CurveMarking(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

#endif
