// A meter's tokens go to whoever comes at the right moment, which may be the same flows for ever. So flows that it refused
// wait, and while one waits only those ask that have waited for half as long as the oldest: the budget goes round. It goes
// round among tenants first, then among the flows of each, so that many flows get a tenant no more.
// Cell of a flow or tenant, in microseconds: 0: nothing yet; odd: when it was told; even: since when it waits.
// Line, in microseconds: since when the oldest waits (48), last refusal (48). It counts while refusals go on, and after the last
// for a quarter of the time between the two, so that who waits and does not come back holds up nobody for longer.
#ifndef FCN_BUDGET_GATE_P4
#define FCN_BUDGET_GATE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"

#define IN_LINE(since, refused, now) ((now) - (refused) <= ((refused) - (since)) >> 2)

// Of those who share a budget: VRFs at a PE, tunnels at a P; or ports. As many cells as a value has, so that no index is out
// of range.
typedef bit<12> tenant_t;
const int TENANT_CELLS = VRF_CELLS;

// Who has waited for longer begins anew; who has waited for 5/8 of it may always ask, whatever others send.
const microseconds_t LONGEST_WAIT = 1 << 20;

// What BudgetGate says of a flow, for BudgetTurn
struct budget_t {
    bit<32> cell;
    bit<32> tenant_cell;
    // The flow's interval is over.
    bool due;
    // It is the flow's turn among those of its tenant.
    bool flow_asks;
    // And its tenant's: the meter is to be asked.
    bool asks;
}

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

// LineGate: is it the turn of a flow, or of a tenant, in its line?
// Reads:  its cell, the line, time now in microseconds.
// Writes: asks; if not, the cell: it waits.
// When:   before it asks.
control LineGate(
        in bit<16> index, in tenant_t line, in bit<48> now, in bit<32> cell, out bool asks)(
        register<bit<32>, bit<16>> cells, register<bit<96>, tenant_t> lines) {
    WaitOf() wait_of;

    apply {
        bool waits;
        bit<48> start;
        bit<96> times;
        lines.read(times, line);
        wait_of.apply(cell, now, waits, start);
        asks = !(IN_LINE(times[95:48], times[47:0], now) && (now - start) << 1 < now - times[95:48]);
        if (!asks && !waits) {
            cells.write(index, now[31:1] ++ 1w0);
        }
    }
}

// LineTurn: what the answer was.
// Reads:  time now, and cell as in LineGate; granted; earlier: by how much sooner the flow may be told again.
// Writes: the cell, the line.
// When:   it has asked.
control LineTurn(
        in bit<16> index, in tenant_t line, in bit<48> now, in bit<32> cell, in bool granted,
        in microseconds_t earlier)(
        register<bit<32>, bit<16>> cells, register<bit<96>, tenant_t> lines) {
    WaitOf() wait_of;

    apply {
        bool waits;
        bit<48> start;
        bit<96> times;
        lines.read(times, line);
        bit<48> since = times[95:48];
        wait_of.apply(cell, now, waits, start);
        if (granted) {
            cells.write(index, (now[31:0] - earlier) | 1);
            // The others that wait say so themselves.
            if (waits && start <= since) {
                lines.write(line, 0);
            }
        } else {
            if (!waits) {
                cells.write(index, now[31:1] ++ 1w0);
            }
            if (IN_LINE(since, times[47:0], now) && since < start && now - since <= (bit<48>)LONGEST_WAIT) {
                start = since;
            }
            lines.write(line, start ++ now);
        }
    }
}

// FlowDue
// Reads:  the flow's cell, interval, time now in microseconds.
// Writes: cell; due: the flow was not told within the interval.
control FlowDue(
        in bit<16> index, in microseconds_t interval, in bit<48> now, out bit<32> cell, out bool due)(
        register<bit<32>, bit<16>> cells) {
    apply {
        cells.read(cell, index);
        due = cell[0:0] == 0 || (now[31:0] | 1) - cell >= interval;
    }
}

// BudgetGate: may a flow ask the meter (FCN-11, FCN-15)?
// Reads:  the flow's cell and its tenant's, their lines, time now in microseconds.
// Writes: budget; the cell of who has to wait.
// When:   before a notification is sent, the flow being due.
control BudgetGate(
        in bit<16> index, in tenant_t tenant, in bit<48> now, inout budget_t budget)(
        register<bit<32>, bit<16>> cells, register<bit<96>, tenant_t> lines,
        register<bit<32>, bit<16>> tenants, register<bit<96>, tenant_t> tenant_line) {
    LineGate(cells, lines) flow_gate;
    LineGate(tenants, tenant_line) tenant_gate;

    apply {
        flow_gate.apply(index, tenant, now, budget.cell, budget.flow_asks);
        budget.asks = false;
        if (budget.flow_asks) {
            tenants.read(budget.tenant_cell, (bit<16>)tenant);
            tenant_gate.apply((bit<16>)tenant, 0, now, budget.tenant_cell, budget.asks);
        }
    }
}

// BudgetTurn: what the meter said; of a flow whose tenant has to wait, nothing.
// Reads:  time now, budget as BudgetGate wrote it; granted; earlier: by how much sooner the flow may be told again.
// Writes: the cells of the flow and its tenant, their lines.
// When:   behind BudgetGate.
control BudgetTurn(
        in bit<16> index, in tenant_t tenant, in bit<48> now, in budget_t budget, in bool granted,
        in microseconds_t earlier)(
        register<bit<32>, bit<16>> cells, register<bit<96>, tenant_t> lines,
        register<bit<32>, bit<16>> tenants, register<bit<96>, tenant_t> tenant_line) {
    LineTurn(cells, lines) flow_turn;
    LineTurn(tenants, tenant_line) tenant_turn;

    apply {
        if (budget.flow_asks) {
            flow_turn.apply(index, tenant, now, budget.cell, granted, earlier);
            if (budget.asks) {
                tenant_turn.apply((bit<16>)tenant, 0, now, budget.tenant_cell, granted, 0);
            }
        }
    }
}

#endif
