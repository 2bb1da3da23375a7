#ifndef FCN_HOLD_LIMIT_P4
#define FCN_HOLD_LIMIT_P4

#include "../../../fast_cnp/v1model/budget_gate.p4"
#include "hold_registers.p4"

// HoldLimit: bounds the holds that a neighbour begins, and those it goes on renewing: each is counted again after twice the
// longest time, and those that were refused come first (SRF-7).
// Reads:  hold; the neighbour's port; longest: time of a hold; time now in microseconds.
// Writes: color, GREEN when the hold may begin or go on; what BudgetGate keeps of each hold and port.
// When:   a neighbour asks to hold, and there is a cell.
control HoldLimit(
        in bit<48> now, in port_t port, in bit<48> longest, inout hold_t hold, inout color_t color) {
    // When hold_meter counted a hold last, or since when one waits for it; the line of each port
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) counted_at;
    register<bit<96>, tenant_t>(TENANT_CELLS) lines;
    FlowDue(counted_at) count_due;
    LineGate(counted_at, lines) hold_gate;
    LineTurn(counted_at, lines) hold_turn;
    METER(".hold_meter", hold_meter, port_t, PORT_COUNTER_SIZE)

    apply {
        bit<32> counted;
        bool due;
        color = GREEN;
        count_due.apply((bit<16>)hold.cell, (microseconds_t)(longest + longest), now, counted, due);
        // What was counted is over.
        if (!hold.same && counted[0:0] == 1) {
            counted = 0;
            due = true;
        }
        if (due) {
            bool asks;
            color = RED;
            hold_gate.apply((bit<16>)hold.cell, (tenant_t)port, now, counted, asks);
            if (asks) {
                EXECUTE_METER(hold_meter, port, color)
                hold_turn.apply((bit<16>)hold.cell, (tenant_t)port, now, counted, color == GREEN, 0);
            }
        }
    }
}

#endif
