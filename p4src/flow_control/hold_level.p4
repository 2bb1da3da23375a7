#ifndef FCN_HOLD_LEVEL_P4
#define FCN_HOLD_LEVEL_P4

#include "../base/types.p4"
#include "flow_control_types.p4"

// HoldLevel: is the queue that the packet came from congested, or relieved?
// Reads:  egress port, queue, depth (in the target's unit).
// Writes: meta.queue.
// When:   packets of the underlay in egress, while flow control is on.
control HoldLevel(
        in port_t egress_port, in bit<5> queue_id, in bit<19> queue_depth,
        inout flow_control_meta_t meta) {
    action set_queue_state(QueueState state) {
        meta.queue = state;
    }
    action between() { }

    PLACED(hold_level) @name(".hold_level")
    table hold_level {
        key = {
            egress_port: exact @name("egress_port");
            queue_id: exact @name("queue_id");
            queue_depth: range @name("queue_depth");
        }
        actions = {
            @tableonly set_queue_state;
            @defaultonly between;
        }
        const default_action = between;
        size = HOLD_LEVEL_TABLE_SIZE;
    }

    apply {
        hold_level.apply();
    }
}

#endif
