#ifndef FCN_HOLD_REFUSAL_P4
#define FCN_HOLD_REFUSAL_P4

#include "../../base/types.p4"
#include "../flow_control_types.p4"

// HoldRefusal: why Hold did not do what was asked, as a drop reason.
// Reads:  verdict of Hold.
// Writes: drop_reason.
// When:   behind Hold, unless the packet waits.
control HoldRefusal(in HoldVerdict verdict, inout DropReason drop_reason) {
    apply {
        if (verdict == HoldVerdict.NO_ROOM) {
            drop_reason = DropReason.HOLD_NO_ROOM;
        } else if (verdict == HoldVerdict.LIMIT) {
            drop_reason = DropReason.HOLD_LIMIT;
        } else if (verdict == HoldVerdict.NO_CELL) {
            drop_reason = DropReason.HOLD_NO_CELL;
        }
    }
}

#endif
