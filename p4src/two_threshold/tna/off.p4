// Of a program without two thresholds: its step behind the queue, and that of a PE behind Arrival, empty.
#include "../../base/headers.p4"
#include "../../base/pe_metadata.p4"
#include "../../base/tna/pass_headers.p4"

control CurveMarking(in egress_intrinsic_metadata_t eg_intr_md, inout base_meta_t meta) {
    apply { }
}
control LightNotified(in copy_h copy, in fast_cnp_h fast_cnp, inout pe_meta_t meta, inout bit<3> drop) {
    apply { }
}
