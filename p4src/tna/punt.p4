#ifndef FCN_PUNT_P4
#define FCN_PUNT_P4

// Punt: lets a bounded number of packets go to the controller.
// Reads:  meta.punt_reason.
// Writes: color, GREEN when the packet may go.
// When:   every packet that is not dropped, last.
control Punt(in meta_t meta, inout bit<8> color) {
    PuntLimit() punt_limit;

    apply {
        if (meta.punt_reason != PuntReason.NONE) {
            punt_limit.apply(color);
        }
    }
}

#endif
