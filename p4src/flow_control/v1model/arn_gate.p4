#ifndef FCN_ARN_GATE_P4
#define FCN_ARN_GATE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"
#include "../../fast_cnp/v1model/budget_gate.p4"
#include "../flow_control_types.p4"
#include "arn_limit.p4"

// ArnGate: when the upstream neighbour hears about some traffic: that its queue is congested, at once and again every
// meta.refresh; that this is over, once (FCN-15 for ARN).
// Reads:  meta.upstream_port, meta.traffic, meta.queue, meta.budget, meta.refresh, the time now in microseconds; tenant: as
//         in BudgetGate; lasts: how long the congestion goes on, 0 where that is unknown: where it is shorter than
//         meta.refresh, but goes on after all, it is sent again at half of that time.
// Writes: meta.arn_type; the cell, as in BudgetGate, but that zero also says that it is over; held_back: it is too early;
//         refused: the limit of ARNs kept the message back.
// When:   packets of the underlay in egress whose upstream neighbour is known.
// Traffic that shares a cell with other traffic is told less: then the time ends its hold.
control ArnGate(
        in bit<48> now, in tenant_t tenant, in microseconds_t lasts, inout flow_control_meta_t meta, out bool held_back,
        out bool refused) {
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_sent;
    register<bit<96>, tenant_t>(TENANT_CELLS) lines;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) tenants;
    register<bit<96>, tenant_t>(1) tenant_line;

    FlowDue(last_sent) arn_due;
    BudgetGate(last_sent, lines, tenants, tenant_line) gate;
    BudgetTurn(last_sent, lines, tenants, tenant_line) turn;
    ArnLimit() arn_limit;

    apply {
        bit<16> index;
        color_t color = RED;
        held_back = false;
        refused = false;
        hash(index, HashAlgorithm.crc16, 16w0,
             { meta.upstream_port, meta.traffic.ip_version, meta.traffic.label, meta.traffic.protocol, meta.traffic.src,
                   meta.traffic.dst, meta.traffic.src_port, meta.traffic.dst_port, meta.traffic.priority },
             32w0x10000);
        if (meta.queue == QueueState.CONGESTED || meta.budget == BudgetState.CONGESTED) {
            budget_t budget = { 0, 0, false, false, false };
            arn_due.apply(index, meta.refresh, now, budget.cell, budget.due);
            if (budget.due) {
                meta.arn_type = ArnType.DETECTED;
                gate.apply(index, tenant, now, budget);
                if (budget.asks) {
                    arn_limit.apply(color);
                }
                microseconds_t earlier = 0;
                if (lasts != 0 && (lasts >> 1) < meta.refresh) {
                    earlier = meta.refresh - (lasts >> 1);
                }
                turn.apply(index, tenant, now, budget, color == GREEN, earlier);
                refused = color != GREEN;
            } else {
                held_back = true;
            }
        } else if (meta.queue == QueueState.RELIEVED && meta.budget == BudgetState.RELIEVED) {
            bit<32> cell;
            last_sent.read(cell, index);
            if (cell != 0) {
                meta.arn_type = ArnType.ELIMINATED;
                last_sent.write(index, 0);
                arn_limit.apply(color);
                refused = color != GREEN;
            }
        }
    }
}

#endif
