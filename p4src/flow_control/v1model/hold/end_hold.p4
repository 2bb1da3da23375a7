#ifndef FCN_END_HOLD_P4
#define FCN_END_HOLD_P4

#include "hold_registers.p4"

// EndHold: what waits may go on, before the time is over.
// Reads:  hold; time now.
// Writes: hold_ends; meta.event.
// When:   meta.request == HoldRequest.END.
control EndHold(in bit<48> now, inout hold_t hold, inout flow_control_meta_t meta) {
    apply {
        if (hold.same && hold.end > now) {
            hold_ends.write(hold.cell, now);
            meta.event = HoldEvent.ENDED_EARLY;
        } else {
            meta.event = HoldEvent.UNKNOWN;
        }
    }
}

#endif
