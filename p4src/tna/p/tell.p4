#ifndef FCN_TNA_P_TELL_P4
#define FCN_TNA_P_TELL_P4

#include "../../base/rate_limits.p4"
#include "../../base/sizes.p4"
#include "../p_metadata.p4"

// Tell: a congested queue, or what a mode knows, is said, within the node's limit (FCN-15).
// Reads:  md.wanted, gate_passed, mirror.kind; what the modes' steps have found.
// Writes: mirror_type and md.mirror: a copy for a second pass; counters.
// When:   in egress, no copy.
control Tell(
        inout p_pass_headers_t hdr, inout tna_p_meta_t md, inout MirrorType_t mirror_type) {
    @name(".flow_interval_suppressed")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        flow_interval_suppressed;
    @name(".node_rate_suppressed")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        node_rate_suppressed;

    PathTells() path_tells;
    NotificationLimit() notification_limit;
    HoldTells() hold_tells;
    HelloTells() hello_tells;
    PathOfClock() path_of_clock;

    action copy_to_second_pass() {
        mirror_type = MIRROR_COPY;
        md.mirror_session = (MirrorId_t)(bit<10>)MirrorSession.RECIRC;
        md.mirror.pass = PassType.MIRROR;
        md.mirror.level = md.meta.base.level;
        md.mirror.pad0 = 0;
        md.mirror.pad1 = 0;
        md.mirror.label = QUEUE_DEPTH(md);
    }

    apply {
        path_tells.apply(md);
        if (md.wanted && md.gate_passed == 1) {
            notification_limit.apply(md.notification_color);
        }
        hold_tells.apply(md);
        hello_tells.apply(hdr, md);
        if (md.wanted) {
            if (md.gate_passed == 0) {
                flow_interval_suppressed.count(md.mirror.kind);
            } else if (md.notification_color != GREEN) {
                node_rate_suppressed.count(md.mirror.kind);
            } else {
                copy_to_second_pass();
                path_of_clock.apply(hdr, md);
            }
        }
    }
}

#endif
