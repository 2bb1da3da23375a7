// A meter's tokens go to whoever comes at the right moment, which may be the same flows for ever. So flows that it refused
// wait, and while one waits only those ask that have waited for half as long as the oldest: the budget goes round.
// Cell of a flow, in microseconds: 0: nothing yet; odd: when it was told; even: since when it waits.
// Line, in microseconds: since when the oldest waits (48), last refusal (48). It counts while refusals go on, and after the last
// for a quarter of the time between the two, so that who waits and does not come back holds up nobody for longer.
#ifndef FCN_BUDGET_GATE_P4
#define FCN_BUDGET_GATE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"

#define IN_LINE(since, refused, now) ((now) - (refused) <= ((refused) - (since)) >> 2)

// Who has waited for longer begins anew; who has waited for 5/8 of it may always ask, whatever others send.
const microseconds_t LONGEST_WAIT = 1 << 20;

// WaitOf: has the flow begun to wait, and when? Now, if not.
// Reads:  its cell, time now in microseconds.
control WaitOf(in bit<32> cell, in bit<48> now, out bool waits, out bit<48> start) {
    apply {
        bit<32> wait = now[31:0] - cell;
        waits = cell != 0 && cell[0:0] == 0 && wait <= LONGEST_WAIT;
        start = now;
        if (waits) {
            start = now - (bit<48>)wait;
        }
    }
}

// BudgetGate: may a flow ask the meter (FCN-11, FCN-15)?
// Reads:  the flow's cell, interval, the line, time now in microseconds.
// Writes: cell; due: the interval is over; asks: and it is the flow's turn; if not, the flow waits.
// When:   before a notification is sent.
control BudgetGate(
        in bit<16> index, in microseconds_t interval, in bit<48> now, out bit<32> cell, out bool due, out bool asks)(
        register<bit<32>, bit<16>> cells, register<bit<96>, bit<1>> line) {
    WaitOf() wait_of;

    apply {
        cells.read(cell, index);
        due = cell[0:0] == 0 || (now[31:0] | 1) - cell >= interval;
        asks = due;
        if (due) {
            bool waits;
            bit<48> start;
            bit<96> times;
            line.read(times, 0);
            wait_of.apply(cell, now, waits, start);
            if (IN_LINE(times[95:48], times[47:0], now) && (now - start) << 1 < now - times[95:48]) {
                asks = false;
                if (!waits) {
                    cells.write(index, now[31:1] ++ 1w0);
                }
            }
        }
    }
}

// BudgetTurn: what the meter said.
// Reads:  time now and cell as in BudgetGate; granted; earlier: by how much sooner the flow may be told again.
// Writes: the flow's cell, the line.
// When:   a flow has asked.
control BudgetTurn(
        in bit<16> index, in bit<48> now, in bit<32> cell, in bool granted, in microseconds_t earlier)(
        register<bit<32>, bit<16>> cells, register<bit<96>, bit<1>> line) {
    WaitOf() wait_of;

    apply {
        bool waits;
        bit<48> start;
        bit<96> times;
        line.read(times, 0);
        bit<48> since = times[95:48];
        wait_of.apply(cell, now, waits, start);
        if (granted) {
            cells.write(index, (now[31:0] - earlier) | 1);
            // The others that wait say so themselves.
            if (waits && start <= since) {
                line.write(0, 0);
            }
        } else {
            if (!waits) {
                cells.write(index, now[31:1] ++ 1w0);
            }
            if (IN_LINE(since, times[47:0], now) && since < start && now - since <= (bit<48>)LONGEST_WAIT) {
                start = since;
            }
            line.write(0, start ++ now);
        }
    }
}

#endif
