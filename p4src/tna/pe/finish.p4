#ifndef FCN_TNA_PE_FINISH_P4
#define FCN_TNA_PE_FINISH_P4

#include "../../base/sizes.p4"
#include "../pe_metadata.p4"

// Finish: a packet leaves ingress, goes to the controller, or is dropped and counted.
// Reads:  md.withheld, gate_passed, notification_color, punt_color; md.meta.make_cnp, label_fault, answered;
//         md.meta.base.drop_reason, punt_reason, egress_port.
// Writes: drop, port; packet_in header; counters.
// When:   last.
control Finish(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md, inout bit<3> drop, inout PortId_t port) {
    @name(".drops")
    Counter<bit<32>, DropReason>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) drops;
    @name(".punts")
    Counter<bit<32>, bit<8>>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) punts;
    @name(".notifications_sent")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_sent;

    action finish_at_cpu() {
        hdr.pe.packet_in.setValid();
        hdr.pe.packet_in.ingress_port = md.meta.base.ingress_port;
        hdr.pe.packet_in.reason = md.meta.base.punt_reason;
        hdr.pe.packet_in.vlan_id = 4w0 ++ md.meta.base.vlan_id;
        hdr.pe.packet_in.vrf = md.meta.base.vrf;
        port = CPU_PORT;
    }

    apply {
        // Before what the route says: a label that is not known has no address to look up.
        if (md.withheld != DropReason.NONE) {
            drops.count(md.withheld);
            drop = 1;
        } else if (md.meta.make_cnp && md.meta.label_fault != DropReason.NONE) {
            drops.count(md.meta.label_fault);
            drop = 1;
        } else if (md.meta.base.drop_reason != DropReason.NONE) {
            drops.count(md.meta.base.drop_reason);
            drop = 1;
        } else if (md.meta.make_cnp && md.gate_passed == 0) {
            drops.count(DropReason.FLOW_INTERVAL);
            drop = 1;
        } else if (md.meta.make_cnp && md.notification_color != GREEN) {
            drops.count(DropReason.NODE_RATE_LIMIT);
            drop = 1;
        } else if (md.punt_color != GREEN && !md.meta.answered) {
            drops.count(DropReason.PUNT_RATE_LIMIT);
            drop = 1;
        } else if (md.meta.base.punt_reason != PuntReason.NONE) {
            punts.count(1w0 ++ md.meta.base.punt_reason);
            finish_at_cpu();
        } else {
            port = md.meta.base.egress_port;
            if (md.meta.make_cnp) {
                notifications_sent.count(NotificationKind.CNP);
            }
        }
    }
}

#endif
