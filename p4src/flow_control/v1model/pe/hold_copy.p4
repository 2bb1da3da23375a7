#ifndef FCN_FLOW_CONTROL_PE_HOLD_COPY_P4
#define FCN_FLOW_CONTROL_PE_HOLD_COPY_P4

#include "../../../base/v1model/pe.p4"
#include "../../pause.p4"
#include "../send_arn.p4"

// HoldCopy: makes a copy an ARN or a PAUSE frame.
// Reads:  standard_metadata.egress_rid: which of two copies this is; meta.base.copy_kind, copy_label; what HoldOrigin found.
// Writes: meta.base.copy_kind; headers; the length of the frame.
// When:   on the egress copy of a packet.
control HoldCopy(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    SendArn() send_arn;
    Pause() pause;

    apply {
        if (standard_metadata.egress_rid == COPY_THAT_ASKS) {
            meta.base.copy_kind = NotificationKind.PAUSE;
            if (meta.flow_control.has_upstream) {
                meta.base.copy_kind = NotificationKind.ARN;
            }
        }
        if (meta.base.copy_kind == NotificationKind.ARN) {
            if (hdr.held_name.isValid()) {
                hdr.vlan.setInvalid();
                hdr.ethernet.ether_type = EtherType.IPV6;
                hdr.outer_ipv6.setValid();
                hdr.outer_ipv6.version = 6;
            }
            hdr.tunnel.gre.setInvalid();
            hdr.tunnel.gre_key.setInvalid();
            // See HoldAsk; the only copy of its packet.
            microseconds_t longest = 0;
            if (standard_metadata.egress_rid != COPY_THAT_ASKS) {
                longest = (microseconds_t)meta.base.copy_label;
            }
            send_arn.apply(
                hdr.ethernet, hdr.outer_ipv6, hdr.srv6, hdr.tunnel.udp, hdr.arn, hdr.five_tuple, hdr.envelope,
                meta.base.copy_level, longest, meta.flow_control);
        } else if (meta.base.copy_kind == NotificationKind.PAUSE) {
            pause.apply(hdr.ethernet, hdr.pause, meta.flow_control);
            truncate(PAUSE_FRAME_LENGTH);
        }
    }
}

#endif
