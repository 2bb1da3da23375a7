#ifndef FCN_FLOW_CONTROL_P_HOLD_COPY_P4
#define FCN_FLOW_CONTROL_P_HOLD_COPY_P4

#include "../../../base/v1model/p.p4"
#include "../send_arn.p4"

// HoldCopy: makes a copy an ARN.
// Reads:  standard_metadata.egress_rid: which of two copies this is; meta.base.copy_kind; what HoldOrigin found.
// Writes: meta.base.copy_kind; headers; the length of the frame.
// When:   on the egress copy of a packet.
control HoldCopy(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    SendArn() send_arn;

    apply {
        if (standard_metadata.egress_rid == COPY_THAT_ASKS) {
            meta.base.copy_kind = NotificationKind.ARN;
        }
        if (meta.base.copy_kind == NotificationKind.ARN) {
            send_arn.apply(
                hdr.ethernet, hdr.outer_ipv6, hdr.srv6, hdr.tunnel.udp, hdr.arn, hdr.five_tuple, hdr.envelope,
                meta.base.copy_level, 0, meta.flow_control);
        }
    }
}

#endif
