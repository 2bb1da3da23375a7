#ifndef FCN_PUNT_P4
#define FCN_PUNT_P4

// Punt: lets a bounded number of packets go to the controller.
// Reads:  meta.punt_reason.
// Writes: meta.drop_reason.
// When:   last, before the packet leaves the ingress.
control Punt(inout meta_t meta) {
    PuntLimit() punt_limit;

    apply {
        bool pass = true;
        if (meta.punt_reason != PuntReason.NONE && meta.drop_reason == DropReason.NONE) {
            punt_limit.apply(pass);
            if (!pass) {
                meta.drop_reason = DropReason.PUNT_RATE_LIMIT;
            }
        }
    }
}

#endif
