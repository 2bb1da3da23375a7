#ifndef FCN_LIGHT_CONGESTION_P4
#define FCN_LIGHT_CONGESTION_P4

#include "../base/pe_metadata.p4"

// LightCongestion: whether this PE treats flows whose path is lightly congested instead of telling their senders,
// and for how long after it was told last (PEC-3). One table entry; off by default.
// Writes: meta.two_threshold.hold.
// When:   before a control that reads it.
control LightCongestion(inout pe_meta_t meta) {
    action set_hold(microseconds_t hold) {
        meta.two_threshold.hold = hold;
    }

    PLACED(light_congestion) @name(".light_congestion")
    table light_congestion {
        actions = {
            set_hold;
        }
        default_action = set_hold(0);
    }

    apply {
        light_congestion.apply();
    }
}

#endif
