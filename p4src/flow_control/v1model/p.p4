// Precise flow control at a P (SRF-5 to SRF-7): its steps in the order in which p.p4 takes them.
#ifndef FCN_FLOW_CONTROL_P_P4
#define FCN_FLOW_CONTROL_P_P4

#include "../../base/v1model/p.p4"
#include "../arn_upstream.p4"
#include "../flow_control_types.p4"
#include "../../fast_cnp/v1model/tunnel_cell.p4"
#include "ask_upstream.p4"
#include "copy_for_neighbor.p4"
#include "hold.p4"
#include "holding.p4"
#include "name_traffic.p4"
#include "notification_sid.p4"
#include "receive_arn.p4"
#include "send_arn.p4"
#include "steps.p4"

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
// Writes: what ReceiveArn writes.
// When:   a packet that is for this node itself.
control HoldMessage(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    ReceiveArn() receive_arn;

    apply {
        receive_arn.apply(
            hdr.outer_ipv6, hdr.tunnel.udp, hdr.arn, hdr.five_tuple, standard_metadata.parser_error,
            meta.base, meta.flow_control);
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
    TunnelCell() tunnel_cell;

    apply {
        meta.base.stays = standard_metadata.egress_port == PARK_PORT;
        if (meta.flow_control.has_upstream && meta.base.notification_kind == NotificationKind.NONE) {
            // A service is a tunnel's already.
            tenant_t tunnel = 0;
            if (meta.flow_control.mode == FlowControl.FLOW) {
                tunnel_cell.apply(hdr.outer_ipv6, tunnel);
            }
            ask_upstream.apply(standard_metadata, meta.base.stays, tunnel, 0, meta.flow_control, meta.base.asks);
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
