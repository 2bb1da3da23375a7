// No links that are watched, and nothing said of paths, at this P; ../v1model/p.p4 has the steps.
#ifndef FCN_FANTEL_P_P4
#define FCN_FANTEL_P_P4

#include "../../base/v1model/externs.p4"
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"

control HelloAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control ClockAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkHeard(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkMessage(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkRepair(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkDead(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathCopy(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control ClockLeaving(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control LinkLeaving(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathCongested(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
control PathTells(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

#endif
