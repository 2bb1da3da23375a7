// No precise flow control at this P; ../v1model/p.p4 has the steps.
#ifndef FCN_FLOW_CONTROL_P_P4
#define FCN_FLOW_CONTROL_P_P4

#include "../../base/v1model/externs.p4"
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"

control HoldMode(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldLookup(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldMessage(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldParse(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldOrPass(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldOrigin(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldCopy(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldAsk(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldLeaving(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldEnd(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

#endif
