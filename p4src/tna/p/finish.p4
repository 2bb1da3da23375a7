#ifndef FCN_TNA_P_FINISH_P4
#define FCN_TNA_P_FINISH_P4

#include "../../base/rate_limits.p4"
#include "../../base/sizes.p4"
#include "../p_metadata.p4"

// Finish: a packet leaves ingress, goes to the controller, or is dropped and counted.
// Reads:  md.withheld; md.meta.base.drop_reason, punt_reason, copy_kind, egress_port.
// Writes: drop, port; packet_in header; counters.
// When:   last.
control Finish(inout p_pass_headers_t hdr, inout tna_p_meta_t md, inout bit<3> drop, inout PortId_t port) {
    @name(".drops")
    Counter<bit<32>, DropReason>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) drops;
    @name(".punts")
    Counter<bit<32>, bit<8>>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) punts;
    @name(".notifications_sent")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_sent;
    @name(".vrf_refused")
    Counter<bit<32>, vrf_cell_t>(VRF_CELLS, CounterType_t.PACKETS_AND_BYTES) vrf_refused;

    PuntLimit() punt_limit;

    action finish_at_cpu() {
        hdr.p.packet_in.setValid();
        hdr.p.packet_in.ingress_port = md.meta.base.ingress_port;
        hdr.p.packet_in.reason = md.meta.base.punt_reason;
        hdr.p.packet_in.vlan_id = 0;
        hdr.p.packet_in.vrf = 0;
        port = CPU_PORT;
    }

    apply {
        if (md.meta.base.drop_reason == DropReason.NONE) {
            if (md.meta.base.punt_reason != PuntReason.NONE) {
                punt_limit.apply(NO_VRF, md.punt_color);
            }
        }
        // Here, because a stage counts three of them: limits are not for copies.
        if (md.meta.base.copy_kind != NotificationKind.NONE
                && md.meta.base.drop_reason == DropReason.NONE
                && md.meta.base.punt_reason == PuntReason.NONE) {
            notifications_sent.count(md.meta.base.copy_kind);
        }
        if (md.withheld != DropReason.NONE && md.meta.base.forward == Forward.UNDERLAY) {
            drops.count(md.withheld);
            drop = 1;
        } else if (md.meta.base.drop_reason != DropReason.NONE) {
            drops.count(md.meta.base.drop_reason);
            drop = 1;
        } else if (md.punt_color != GREEN) {
            vrf_refused.count(VRF_CELL(NO_VRF));
            drops.count(DropReason.PUNT_RATE_LIMIT);
            drop = 1;
        } else if (md.meta.base.punt_reason != PuntReason.NONE) {
            punts.count(1w0 ++ md.meta.base.punt_reason);
            finish_at_cpu();
        } else {
            port = md.meta.base.egress_port;
        }
    }
}

#endif
