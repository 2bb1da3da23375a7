#ifndef FCN_FLOW_CONTROL_P_HOLD_OR_PASS_P4
#define FCN_FLOW_CONTROL_P_HOLD_OR_PASS_P4

#include "../../../base/v1model/p.p4"
#include "../hold/park.p4"
#include "../holding.p4"
#include "../name_traffic.p4"

// HoldOrPass: a packet goes, or waits; a neighbour is answered (SRF-7).
// Reads:  meta.flow_control.request; headers; where the packet goes. Notifications are not held.
// Writes: what Holding writes.
// When:   it is known where the packet goes.
control HoldOrPass(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;
    Holding() holding;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && meta.base.forward == Forward.UNDERLAY
                && meta.base.notification_kind == NotificationKind.NONE
                && meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason == PuntReason.NONE) {
            name_traffic.apply(hdr, meta, hdr.outer_ipv6.dst);
            if (meta.flow_control.is_named) {
                meta.flow_control.request = HoldRequest.PASS;
                meta.flow_control.hold_port = meta.base.egress_port;
            }
        }
        if (meta.flow_control.request != HoldRequest.NONE && meta.base.drop_reason == DropReason.NONE) {
            holding.apply(
                meta.flow_control.hold_port, (bit<16>)standard_metadata.packet_length, ALL_ROOM, meta.base,
                meta.flow_control);
        }
    }
}

#endif
