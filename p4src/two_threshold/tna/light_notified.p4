#ifndef FCN_TNA_LIGHT_NOTIFIED_P4
#define FCN_TNA_LIGHT_NOTIFIED_P4

#include "../../base/headers.p4"
#include "../../base/tna/pass_headers.p4"
#include "../light_congestion.p4"

// LightNotified: what says light congestion ends here, and no sender hears of it (PEC-3). No flow is treated.
// Reads:  the level of the Fast CNP or of the own queue, meta.make_cnp, meta.label_fault.
// Writes: meta.make_cnp, meta.base.forward, meta.event; drop.
// When:   behind Arrival.
control LightNotified(in copy_h copy, in fast_cnp_h fast_cnp, inout pe_meta_t meta, inout bit<3> drop) {
    LightCongestion() light_congestion;
    congestion_level_t level;

    action take_level_of_copy() {
        level = copy.level;
    }
    action take_level_of_notification() {
        level = fast_cnp.word[11:9];
    }
    action end_here() {
        meta.make_cnp = false;
        meta.base.forward = Forward.NONE;
        meta.event = Event.LIGHT_CONGESTION;
        drop = 1;
    }
    // A table only to be placed: behind it the gate's register finds memory that the flow tables leave.
    @hidden PLACED(light_notified)
    table light_notified {
        actions = {
            end_here;
        }
        const default_action = end_here;
    }

    apply {
        level = 0;
        light_congestion.apply(meta);
        if (meta.two_threshold.hold != 0) {
            if (copy.isValid()) {
                take_level_of_copy();
            } else {
                take_level_of_notification();
            }
        }
        if (meta.make_cnp && level == LIGHT_CONGESTION_LEVEL
                && meta.label_fault != DropReason.LABEL_UNKNOWN) {
            light_notified.apply();
        }
    }
}

#endif
