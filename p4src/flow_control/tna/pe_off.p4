// Of a PE without flow control: its steps, empty.
#include "../../tna/pe_metadata.p4"

control HoldCarryOver(inout pe_pass_headers_t hdr) {
    apply { }
}
control HoldMessage(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md, inout bit<3> drop) {
    apply { }
}
control HoldTunnel(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    apply { }
}
control HoldTells(
        in egress_intrinsic_metadata_t eg_intr_md, in pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    apply { }
}
