#ifndef FCN_FLOW_CONTROL_PE_HOLD_AGAIN_P4
#define FCN_FLOW_CONTROL_PE_HOLD_AGAIN_P4

#include "../../../base/v1model/pe.p4"
#include "../../../v1model/pe/take_as_underlay.p4"

// HoldAgain: a packet that waits here has come round; an ARN or PAUSE frame made here leaves by the port it is for.
// Reads:  meta.base.is_parked, copy_kind; meta.flow_control.egress_port, upstream_port.
// Writes: meta.flow_control.request; meta.base.is_settled and egress_port; the length of the frame.
// When:   a later pass.
control HoldAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    TakeAsUnderlay() take_as_underlay;

    apply {
        if (meta.base.is_parked == 1) {
            meta.base.is_settled = true;
            meta.flow_control.request = HoldRequest.TURN;
            meta.base.egress_port = meta.flow_control.egress_port;
            if (!hdr.outer_ipv6.isValid()) {
                take_as_underlay.apply(hdr);
            }
        } else if (meta.base.copy_kind == NotificationKind.ARN || meta.base.copy_kind == NotificationKind.PAUSE) {
            meta.base.is_settled = true;
            meta.base.egress_port = meta.flow_control.upstream_port;
            if (meta.base.copy_kind == NotificationKind.PAUSE) {
                truncate(PAUSE_FRAME_LENGTH);
            } else {
                truncate((bit<32>)(hdr.ipv6.payload_len + IPV6_LENGTH + ETHERNET_LENGTH));
            }
        }
    }
}

#endif
