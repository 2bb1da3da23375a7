// No precise flow control at this PE; ../v1model/pe.p4 has the steps.
#ifndef FCN_FLOW_CONTROL_PE_P4
#define FCN_FLOW_CONTROL_PE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/pe_headers.p4"
#include "../../base/pe_metadata.p4"

control HoldMode(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldArrival(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldLookup(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldMessage(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldEncap(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldOrPass(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldOrigin(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldCopy(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldAsk(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldLeaving(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HoldEnd(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

#endif
