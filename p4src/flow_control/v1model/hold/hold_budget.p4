#ifndef FCN_HOLD_BUDGET_P4
#define FCN_HOLD_BUDGET_P4

#include "../../../base/types.p4"

struct hold_budget_t {
    // Beyond which the node takes no more
    bit<32> packets;
    bit<32> octets;
    // From which on upstream neighbours are told to hold, and with which they are told to go on
    bit<32> mark_packets;
    bit<32> mark_octets;
    bit<32> low_packets;
    bit<32> low_octets;
    // The longest hold, in microseconds
    bit<48> max_time;
    // What waited leaves while the queue of its port is shorter, or at least one packet per interval of each hold.
    bit<19> gap_depth;
    bit<48> gap_interval;
}

// HoldBudget: how much a node holds, and for how long.
// Writes: budget.
// When:   Hold is asked.
control HoldBudget(out hold_budget_t budget) {
    action set_hold_budget(
            bit<32> packets, bit<32> octet_count, bit<32> packets_mark, bit<32> octets_mark,
            bit<32> packets_low, bit<32> octets_low, microseconds_t longest, bit<19> drain_depth,
            microseconds_t drain_interval) {
        budget.packets = packets;
        budget.octets = octet_count;
        budget.mark_packets = packets_mark;
        budget.mark_octets = octets_mark;
        budget.low_packets = packets_low;
        budget.low_octets = octets_low;
        budget.max_time = (bit<48>)longest;
        budget.gap_depth = drain_depth;
        budget.gap_interval = (bit<48>)drain_interval;
    }

    @name(".hold_budget")
    table hold_budget {
        actions = {
            set_hold_budget;
        }
        default_action = set_hold_budget(0, 0, 0xffffffff, 0xffffffff, 0, 0, 0, 0, 0);
    }

    apply {
        hold_budget.apply();
    }
}

#endif
