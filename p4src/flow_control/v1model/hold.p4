#ifndef FCN_HOLD_P4
#define FCN_HOLD_P4

#include "hold/begin_hold.p4"
#include "hold/end_hold.p4"
#include "hold/find_hold.p4"
#include "hold/grade_budget.p4"
#include "hold/hold_budget.p4"
#include "hold/hold_registers.p4"
#include "hold/leave_hold.p4"
#include "hold/park.p4"
#include "hold/take_turn.p4"

// Hold: stops exactly the traffic that a neighbour asked to stop, for as long as it asked (SRF-7). A held packet
// circulates through PARK_PORT, whose rate bounds the work, and comes here again each time. Its ticket keeps the
// order: it leaves when its turn has come, and new packets of its hold join behind it until none is left. What waited
// fills gaps of its port: it leaves while the port's queue is short, and otherwise at a rate of its own.
// BEGIN and END: a neighbour behind `port` asks; PASS: a new packet goes out of `port`; TURN: a parked one came round.
// Reads:  meta.request, port, meta.traffic, octets of a new packet, room at its port; time now, meta.time; of a parked
//         packet its cell, ticket, octets and meta.egress_port; queue_depths. Times are in microseconds.
// Writes: meta.verdict, meta.event, budget_state, hold_ends; cell, ticket and octets of a packet that waits.
// When:   once per packet and pass, while flow control is on; of what waits, until it has left.
// A chip that pauses queues (t2na: adv_flow_ctl) answers PASS with the queue of the hold, and needs no TURN.
control Hold(
        in bit<48> now, in port_t port, in bit<16> octets, in hold_room_t room, inout flow_control_meta_t meta) {
    FindHold() find_hold;
    HoldBudget() hold_budget;
    BeginHold() begin_hold;
    EndHold() end_hold;
    Park() park;
    TakeTurn() take_turn;
    LeaveHold() leave_hold;
    GradeBudget() grade_budget;

    apply {
        hold_t hold;
        hold_budget_t budget;
        find_hold.apply(now, port, hold, meta);
        hold_budget.apply(budget);
        if (meta.request == HoldRequest.BEGIN) {
            begin_hold.apply(now, port, budget.max_time, hold, meta);
        } else if (meta.request == HoldRequest.END) {
            end_hold.apply(now, hold, meta);
        } else if (meta.request == HoldRequest.PASS) {
            if (hold.same) {
                park.apply(port, octets, room, budget, hold, meta);
            }
        } else {
            take_turn.apply(now, budget, hold, meta);
            if (meta.verdict == HoldVerdict.GO) {
                leave_hold.apply(now, hold, meta);
            }
        }
        grade_budget.apply(hold, budget);
    }
}

#endif
