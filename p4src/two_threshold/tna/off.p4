// Of a program without two thresholds: its step behind the queue, empty.
control CurveMarking(in egress_intrinsic_metadata_t eg_intr_md, inout base_meta_t meta) {
    apply { }
}
