#ifndef FCN_BEGIN_HOLD_P4
#define FCN_BEGIN_HOLD_P4

#include "hold_limit.p4"
#include "hold_registers.p4"

// BeginHold: a neighbour's traffic is stopped, or goes on being stopped (SRF-7).
// Reads:  meta.traffic, meta.time; hold; the neighbour's port; longest: time of a hold; time now.
// Writes: what the hold stops, and until when; meta.event, or meta.verdict, why not.
// When:   meta.request == HoldRequest.BEGIN.
control BeginHold(
        in bit<48> now, in port_t port, in bit<48> longest, inout hold_t hold, inout flow_control_meta_t meta) {
    HoldLimit() hold_limit;

    apply {
        color_t color = GREEN;
        bit<48> time = (bit<48>)meta.time;
        if (time > longest) {
            time = longest;
        }
        if (hold.in_use && !hold.same) {
            meta.verdict = HoldVerdict.NO_CELL;
        } else {
            hold_limit.apply(now, port, longest, hold, color);
            if (color != GREEN) {
                meta.verdict = HoldVerdict.LIMIT;
            } else {
                hold_ends.write(hold.cell, now + time);
                if (hold.same) {
                    meta.event = HoldEvent.RENEWED;
                } else {
                    hold_sources.write(hold.cell, meta.traffic.src);
                    hold_destinations.write(hold.cell, meta.traffic.dst);
                    hold_rests.write(hold.cell, hold.rest);
                    meta.event = HoldEvent.BEGUN;
                }
            }
        }
    }
}

#endif
