#ifndef FCN_FLOW_CONTROL_P_HOLD_AGAIN_P4
#define FCN_FLOW_CONTROL_P_HOLD_AGAIN_P4

#include "../../../base/v1model/p.p4"

// HoldAgain: a packet that waits here has come round; an ARN made here leaves by the port it is for.
// Reads:  meta.base.is_parked, copy_kind; meta.flow_control.egress_port, upstream_port.
// Writes: meta.flow_control.request; meta.base.is_settled and egress_port.
// When:   a later pass.
control HoldAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.is_parked == 1) {
            meta.base.is_settled = true;
            meta.flow_control.request = HoldRequest.TURN;
            meta.base.egress_port = meta.flow_control.egress_port;
        } else if (meta.base.copy_kind == NotificationKind.ARN) {
            meta.base.is_settled = true;
            meta.base.egress_port = meta.flow_control.upstream_port;
        }
    }
}

#endif
