// Of a P without flow control: its steps, empty.
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/tna/pass_headers.p4"
#include "../../tna/p_metadata.p4"

control HoldCarryOver(inout p_pass_headers_t hdr, in tna_p_meta_t md) {
    apply { }
}
control HoldMessage(inout base_meta_t meta) {
    apply { }
}
control HoldAsk(
        in egress_intrinsic_metadata_t eg_intr_md, inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    apply { }
}
control HoldCopy(inout p_pass_headers_t hdr, in p_meta_t meta, inout bit<3> drop) {
    apply { }
}
control HoldTells(inout tna_p_meta_t md) {
    apply { }
}
control HoldEnd(inout p_pass_headers_t hdr) {
    apply { }
}
