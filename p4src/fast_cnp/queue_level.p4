#ifndef FCN_QUEUE_LEVEL_P4
#define FCN_QUEUE_LEVEL_P4

#include "../base/metadata.p4"

// QueueLevel: how congested the queue is that the packet came from, and what the node does at that
// level (FCN-10, FCN-11, SRF-3).
// Reads:  egress port, queue, depth (in the target's unit: packets on BMv2, cells on Tofino); meta.now on Tofino.
// Writes: meta.level (0 none, 1 lowest, 7 highest), meta.level_mark (the codepoint to set, Not-ECT for
//         none), meta.level_notifies, meta.level_interval.
// When:   every packet in egress.
control QueueLevel(
        in port_t egress_port, in bit<5> queue_id, in bit<19> queue_depth, inout base_meta_t meta) {
    action set_level(congestion_level_t level) {
        meta.level = level;
    }
    action no_congestion() {
        meta.level = 0;
    }

    @name(".queue_level")
    table queue_level {
        key = {
            egress_port: exact @name("egress_port");
            queue_id: exact @name("queue_id");
            queue_depth: range @name("queue_depth");
        }
        actions = {
            @tableonly set_level;
            @defaultonly no_congestion;
        }
        const default_action = no_congestion;
        size = QUEUE_LEVEL_TABLE_SIZE;
    }

    action set_policy(Ecn mark, bit<1> notify, interval_t interval) {
        meta.level_mark = mark;
        meta.level_notifies = notify;
        SET_INTERVAL(meta.level_interval, meta.now, interval)
    }
    action no_policy() { }

    @name(".level_policy")
    table level_policy {
        key = {
            meta.level: exact @name("level");
        }
        actions = {
            @tableonly set_policy;
            @defaultonly no_policy;
        }
        const default_action = no_policy;
        size = 8;
    }

    apply {
        // Level 0 may have a policy (FCN-10), a queue without levels has none.
        if (queue_level.apply().hit) {
            level_policy.apply();
        }
    }
}

#endif
