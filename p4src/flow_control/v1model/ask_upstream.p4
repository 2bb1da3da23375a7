#ifndef FCN_ASK_UPSTREAM_P4
#define FCN_ASK_UPSTREAM_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"
#include "../../base/v1model/counters.p4"
#include "../flow_control_types.p4"
#include "../hold_level.p4"
#include "arn_gate.p4"
#include "hold.p4"

// AskUpstream: whose queue, or place among the held packets, is short, is held where it comes from (SRF-7, SRF-8).
// A copy of the packet becomes an ARN for the upstream neighbour or a PAUSE frame for a data centre.
// Reads:  the queue the packet came from, budget_state; meta.traffic, meta.is_named, meta.relief, meta.refresh;
//         parked: the packet waits here; tenant: as in BudgetGate; lasts: for how long its congestion goes on, 0 where that is unknown.
// Writes: meta.queue, meta.budget, meta.arn_type; asks: what the copy becomes, NONE where nothing is asked.
// When:   packets of the underlay in egress that are no notification and whose origin can be asked.
control AskUpstream(
        in standard_metadata_t standard_metadata, in bool parked, in tenant_t tenant, in microseconds_t lasts,
        inout flow_control_meta_t meta, out NotificationKind asks) {
    HoldLevel() hold_level;
    ArnGate() arn_gate;

    apply {
        asks = NotificationKind.NONE;
        bit<2> budget;
        budget_state.read(budget, 0);
        meta.budget = (BudgetState)budget;
        if (!parked) {
            // What passes is not what fills the budget.
            if (meta.budget == BudgetState.CONGESTED) {
                meta.budget = BudgetState.BETWEEN;
            }
            hold_level.apply(
                standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                standard_metadata.deq_qdepth, meta);
        }
        // CNPs have a gate of their own.
        if (meta.relief != Relief.CNP) {
            bool held_back = false;
            bool refused = false;
            NotificationKind kind = NotificationKind.ARN;
            if (meta.relief == Relief.PAUSE) {
                kind = NotificationKind.PAUSE;
            }
            if (meta.is_named) {
                arn_gate.apply(
                    standard_metadata.egress_global_timestamp, tenant, lasts, meta, held_back, refused);
            } else if (meta.queue == QueueState.CONGESTED && !parked) {
                events.count(Event.INNER_OPAQUE);
            }
            if (meta.arn_type != ArnType.NONE && !refused) {
                notifications_triggered.count(kind);
                asks = kind;
            } else if (!parked) {
                // A parked packet comes round many times.
                if (held_back) {
                    flow_interval_suppressed.count(kind);
                } else if (refused) {
                    node_rate_suppressed.count(kind);
                }
            }
        }
    }
}

#endif
