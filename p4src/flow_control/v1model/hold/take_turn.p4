#ifndef FCN_TAKE_TURN_P4
#define FCN_TAKE_TURN_P4

#include "hold_budget.p4"
#include "hold_registers.p4"

// TakeTurn: may a packet that has come round leave? When the hold is over, in the order of tickets, while its port has a
// gap, or at a rate of the hold's own.
// Reads:  its ticket and meta.egress_port; hold; budget; last_outs, queue_depths; time now.
// Writes: meta.verdict, meta.event; first_rounds.
// When:   meta.request == HoldRequest.TURN.
control TakeTurn(in bit<48> now, in hold_budget_t budget, inout hold_t hold, inout flow_control_meta_t meta) {
    // Of each hold: the ticket, plus one, of the packet that was the first to come round since one left; 0: none yet
    register<bit<33>, hold_cell_t>(HOLD_CELLS) first_rounds;

    apply {
        meta.verdict = HoldVerdict.WAIT;
        bool is_next = meta.ticket == hold.next_out;
        bit<33> round = (bit<33>)meta.ticket + 1;
        bit<33> first;
        bit<48> last_out;
        bit<19> depth;
        first_rounds.read(first, hold.cell);
        last_outs.read(last_out, hold.cell);
        queue_depths.read(depth, meta.egress_port);
        if (hold.end > now) {
            first = 0;
        } else if (is_next && depth >= budget.gap_depth && now < last_out + budget.gap_interval) {
            // Its turn, but no gap
            first = 0;
        } else if (is_next) {
            first = 0;
            meta.verdict = HoldVerdict.GO;
            meta.event = HoldEvent.LEFT;
        } else if (first == 0) {
            first = round;
        } else if (first == round && now > hold.end + budget.max_time && now > last_out + budget.max_time) {
            // All that waits came round, but not those in front of it: the queue of PARK_PORT was too short.
            first = 0;
            meta.verdict = HoldVerdict.GO;
            meta.event = HoldEvent.SKIPPED;
        }
        first_rounds.write(hold.cell, first);
    }
}

#endif
