// Precise flow control at a P (SRF-5 to SRF-7): its steps in the order in which p.p4 takes them.
#ifndef FCN_FLOW_CONTROL_P_P4
#define FCN_FLOW_CONTROL_P_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/types.p4"
#include "customer_label.p4"
#include "../arn_upstream.p4"
#include "../flow_control.p4"
#include "../flow_control_types.p4"
#include "../held_flow.p4"
#include "../held_traffic.p4"
#include "ask_upstream.p4"
#include "copy_for_neighbor.p4"
#include "hold.p4"
#include "holding.p4"
#include "notification_sid.p4"
#include "receive_arn.p4"
#include "send_arn.p4"

// HoldMode
// Writes: meta.flow_control.mode and refresh.
// When:   every packet, first.
control HoldMode(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    FlowControlMode() flow_control;

    apply {
        flow_control.apply(meta.flow_control);
    }
}

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

// HoldLookup
// Writes: meta.flow_control.upstream_port; meta.base.arrived_dst; meta.base.notification_kind of what goes to a PE's END.CON
//         SID.
// When:   a packet from the wire, before a segment of its ends here.
control HoldLookup(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    NotificationSid() notification_sid;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF) {
            meta.flow_control.upstream_port = meta.base.ingress_port;
            meta.base.arrived_dst = hdr.outer_ipv6.dst;
            notification_sid.apply(hdr.outer_ipv6.dst, meta.base);
        }
    }
}

// HoldMessage: an ARN for this node; its parameters are parsed on a second pass.
// Writes: meta.base.is_done, punt_reason; what ReceiveArn writes. Ends the pass of an ARN that is parsed again.
// When:   a packet for this node itself.
control HoldMessage(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    ReceiveArn() receive_arn;

    apply {
        if (meta.base.notification_kind == NotificationKind.ARN && meta.flow_control.mode != FlowControl.OFF) {
            if (meta.base.parse_more == ParseMore.NONE) {
                meta.base.parse_more = ParseMore.ARN;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
            meta.base.punt_reason = PuntReason.NONE;
            meta.base.is_done = true;
            meta.flow_control.hold_port = meta.base.ingress_port;
            receive_arn.apply(
                meta.base.ingress_port, hdr.outer_ipv6, hdr.tunnel.udp, hdr.arn, hdr.five_tuple,
                standard_metadata.parser_error == error.NoError, meta.flow_control, meta.base.drop_reason);
        }
    }
}

// HoldParse: in mode flow what the tunnel carries is parsed on a second pass.
// Writes: meta.base.parse_more. Ends the pass of a packet that is parsed again.
// When:   a packet of the underlay that goes on.
control HoldParse(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.flow_control.mode == FlowControl.FLOW && meta.base.notification_kind == NotificationKind.NONE) {
            if (meta.base.parse_more == ParseMore.NONE) {
                meta.base.parse_more = ParseMore.INNER;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
            // A sub-parser that fails loses what it has extracted.
            if (meta.base.parse_more == ParseMore.INNER && standard_metadata.parser_error != error.NoError) {
                meta.base.parse_more = ParseMore.NOTHING;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
        }
    }
}

// NameTraffic: what a hold of this packet would be about, as the neighbour behind the link sees it.
// Reads:  headers; dst: underlay destination as on that link.
// Writes: meta.flow_control.traffic, is_named.
// When:   before Hold, and before an ARN.
control NameTraffic(inout p_headers_t hdr, inout p_meta_t meta, in ipv6_addr_t dst) {
    HeldTraffic() held_traffic;
    HeldFlow() held_flow;

    apply {
        if (meta.flow_control.mode == FlowControl.FLOW) {
            held_flow.apply(
                hdr.outer_ipv6, hdr.srv6, hdr.tunnel, hdr.inner.ipv4, hdr.inner.ipv6, hdr.inner.udp, false,
                meta.flow_control);
        } else {
            held_traffic.apply(
                hdr.outer_ipv6, dst, hdr.tunnel.udp.isValid(), hdr.tunnel.udp, meta.flow_control);
        }
    }
}

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

// HoldOrigin: the neighbour who can be asked to hold this packet's traffic.
// Writes: meta.flow_control.traffic, is_named, has_upstream; the neighbour's headers.
// When:   in egress, first.
control HoldOrigin(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;
    ArnUpstream() arn_upstream;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && hdr.outer_ipv6.isValid()) {
            name_traffic.apply(hdr, meta, meta.base.arrived_dst);
            arn_upstream.apply(hdr.envelope, meta.flow_control);
        }
    }
}

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

// HoldAsk: is the neighbour asked?
// Writes: meta.base.stays: the packet waits; meta.base.asks.
// When:   in egress, no copy.
control HoldAsk(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    AskUpstream() ask_upstream;

    apply {
        meta.base.stays = standard_metadata.egress_port == PARK_PORT;
        if (meta.flow_control.has_upstream && meta.base.notification_kind == NotificationKind.NONE) {
            ask_upstream.apply(standard_metadata, meta.base.stays, 0, meta.flow_control, meta.base.asks);
        }
    }
}

// HoldLeaving
// Writes: queue_depths, by which Hold finds gaps.
// When:   a packet leaves by a wire.
control HoldLeaving(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.flow_control.mode != FlowControl.OFF) {
            queue_depths.write(standard_metadata.egress_port, standard_metadata.deq_qdepth);
        }
    }
}

// HoldEnd: one more copy for the neighbour; what waits goes round.
// Reads:  meta.base.asks, tells, stays.
// When:   in egress, last but for checksums. Ends the pass of what does not leave.
control HoldEnd(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    CopyForNeighbor() copy_for_neighbor;

    apply {
        if (meta.base.asks != NotificationKind.NONE) {
            copy_for_neighbor.apply(meta.base);
        }
        if (meta.base.stays) {
            meta.base.now = standard_metadata.egress_global_timestamp;
            recirculate_preserving_field_list(KEEP_PARKED);
            exit;
        }
    }
}

#endif
