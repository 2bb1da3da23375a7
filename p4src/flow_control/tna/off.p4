// Of a P without flow control: its steps, empty.
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/tna/pass_headers.p4"
#include "../../tna/p_metadata.p4"

control HoldArrival(inout p_pass_headers_t hdr, in port_t ingress_port) {
    apply { }
}
control HoldMessage(inout base_meta_t meta) {
    apply { }
}
control HoldOrigin(inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    apply { }
}
control HoldAsk(
        in egress_intrinsic_metadata_t eg_intr_md, in p_pass_headers_t hdr, inout tna_p_meta_t md) {
    apply { }
}
control HoldCopy(inout p_headers_t hdr, inout p_meta_t meta) {
    apply { }
}
