#ifndef FCN_TNA_PE_TELL_SENDER_P4
#define FCN_TNA_PE_TELL_SENDER_P4

#include "../../base/sizes.p4"
#include "../../fast_cnp/tna/flow_gate.p4"
#include "../pe_metadata.p4"

// TellSender: this node is the ingress PE of the flow, so it sends the CNP itself (FCN-12).
// Reads:  md.meta.base.level_notifies, level_interval; bridge header; flow label.
// Writes: mirror_type and md.mirror: a copy for a second pass; counters.
// When:   behind Mark.
control TellSender(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md, inout MirrorType_t mirror_type) {
    @name(".notifications_triggered")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_triggered;
    @name(".flow_interval_suppressed")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        flow_interval_suppressed;

    FlowGate(FLOW_GATE_SIZE) own_congestion_gate;

    action tell_sender() {
        md.wanted = true;
    }
    // A table only to be placed: the gate's register needs memory that the flow tables leave.
    @hidden PLACED(own_congestion)
    table own_congestion {
        actions = {
            tell_sender;
        }
        const default_action = tell_sender;
    }
    action copy_to_second_pass() {
        mirror_type = MIRROR_COPY;
        md.mirror_session = (MirrorId_t)(bit<10>)MirrorSession.RECIRC;
        md.mirror.pass = PassType.MIRROR;
        md.mirror.kind = NotificationKind.CNP;
        md.mirror.level = md.meta.base.level;
        md.mirror.pad0 = 0;
        md.mirror.pad1 = 0;
        md.mirror.label = hdr.pe.outer_ipv6.flow_label;
    }

    apply {
        if (md.meta.base.level_notifies == 1 && hdr.bridge.pass == PassType.LABELLED) {
            own_congestion.apply();
        }
        if (md.wanted) {
            own_congestion_gate.apply(
                false, hdr.pe.outer_ipv6.flow_label[15:0], md.meta.base.level_interval, md.meta.base.now,
                md.gate_passed);
        }
        if (md.wanted) {
            if (md.gate_passed == 1) {
                notifications_triggered.count(NotificationKind.CNP);
                copy_to_second_pass();
            } else {
                flow_interval_suppressed.count(NotificationKind.CNP);
            }
        }
    }
}

#endif
