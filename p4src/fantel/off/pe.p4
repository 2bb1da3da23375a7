// No links that are watched and no paths at this PE; ../v1model/pe.p4 has the steps.
#ifndef FCN_FANTEL_PE_P4
#define FCN_FANTEL_PE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/pe_headers.p4"
#include "../../base/pe_metadata.p4"

control PathChecksums(inout pe_headers_t hdr) {
    apply { }
}
control PathReported(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HelloAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control ClockAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkHeard(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathFlow(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathMessage(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathTold(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathChosen(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkRepair(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control HelloCopy(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control ClockLeaving(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkLeaving(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathCongested(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathCounted(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

#endif
