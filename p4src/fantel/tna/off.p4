// Of a P that says nothing of paths: its steps, empty.
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/tna/pass_headers.p4"
#include "../../tna/p_metadata.p4"
#include "links/off.p4"

control PathCarryOver(inout p_pass_headers_t hdr, in tna_p_meta_t md) {
    apply { }
}
control ClockAgain(
        inout p_pass_headers_t hdr, inout tna_p_meta_t md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout bit<3> drop, inout PortId_t port) {
    apply { }
}
control PathAsk(
        in egress_intrinsic_metadata_t eg_intr_md, inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    apply { }
}
control PathCopy(inout p_pass_headers_t hdr, in base_meta_t meta) {
    apply { }
}
control PathTells(inout tna_p_meta_t md) {
    apply { }
}
control HelloTells(in p_pass_headers_t hdr, inout tna_p_meta_t md) {
    apply { }
}
control PathOfClock(in p_pass_headers_t hdr, inout tna_p_meta_t md) {
    apply { }
}
control PathEnd(inout p_pass_headers_t hdr) {
    apply { }
}
