// Precise flow control at a PE (SRF-5 to SRF-9): its steps in the order in which pe.p4 takes them.
#ifndef FCN_FLOW_CONTROL_PE_P4
#define FCN_FLOW_CONTROL_PE_P4

#include "../../base/v1model/pe.p4"
#include "../arn_headers.p4"
#include "../arn_upstream.p4"
#include "../dc_relief.p4"
#include "../flow_control_types.p4"
#include "../pause.p4"
#include "ask_upstream.p4"
#include "copy_for_neighbor.p4"
#include "hold.p4"
#include "holding.p4"
#include "name_traffic.p4"
#include "notification_sid.p4"
#include "receive_arn.p4"
#include "receive_pause.p4"
#include "send_arn.p4"
#include "steps.p4"
#include "../../v1model/pe/take_as_underlay.p4"

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

// HoldArrival
// Reads:  Ethernet header, VLAN tag, DSCP of a customer's packet.
// Writes: meta.flow_control.upstream_port; dc_priority: as in PAUSE frames, of the tag, or the class selector of the DSCP;
//         is_pause: the packet is a PAUSE frame and ends here.
// When:   a packet from the wire, before its VLAN tag is removed.
control HoldArrival(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (IS_PAUSE(hdr.ethernet)) {
            meta.flow_control.is_pause = true;
            meta.base.is_settled = true;
            meta.base.is_done = true;
        }
        if (meta.flow_control.mode != FlowControl.OFF) {
            meta.flow_control.upstream_port = meta.base.ingress_port;
            if (hdr.vlan.isValid()) {
                meta.flow_control.dc_priority = hdr.vlan.pcp;
            } else if (hdr.ipv4.isValid()) {
                meta.flow_control.dc_priority = hdr.ipv4.dscp[5:3];
            } else if (hdr.ipv6.isValid()) {
                meta.flow_control.dc_priority = hdr.ipv6.dscp[5:3];
            }
        }
    }
}

// HoldLookup
// Writes: meta.base.arrived_dst; meta.base.notification_kind of what goes to another PE's END.CON SID.
// When:   a packet of the underlay, before a segment of its ends here.
control HoldLookup(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NotificationSid() notification_sid;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF) {
            meta.base.arrived_dst = hdr.outer_ipv6.dst;
            notification_sid.apply(hdr.outer_ipv6.dst, meta.base);
        }
    }
}

// HoldMessage: an ARN for this node; its parameters are parsed on a second pass.
// Writes: what ReceiveArn writes.
// When:   a packet from a core port that is for this node itself.
control HoldMessage(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    ReceiveArn() receive_arn;

    apply {
        receive_arn.apply(
            hdr.outer_ipv6, hdr.udp, hdr.arn, hdr.five_tuple, standard_metadata.parser_error,
            meta.base, meta.flow_control);
    }
}

// HoldEncap: in mode priority the priority of the data centre is that of the tunnel (SRF-6).
// Writes: DSCP of the underlay header.
// When:   behind TunnelEncap.
control HoldEncap(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.flow_control.mode == FlowControl.PRIORITY) {
            hdr.outer_ipv6.dscp = meta.flow_control.dc_priority ++ 3w0;
        }
    }
}

// HoldTunnelEnd: the port of a data centre may be congested, where the tunnel is gone.
// Writes: hdr.held_name: what the neighbour that the packet came from would hold.
// When:   a tunnel ends here, before TunnelDecap.
control HoldTunnelEnd(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && meta.base.notification_kind == NotificationKind.NONE) {
            name_traffic.apply(hdr, meta, meta.base.arrived_dst);
            if (meta.flow_control.is_named) {
                hdr.held_name.setValid();
                hdr.held_name.ip_version = meta.flow_control.traffic.ip_version;
                hdr.held_name.label = meta.flow_control.traffic.label;
                hdr.held_name.protocol = meta.flow_control.traffic.protocol;
                hdr.held_name.src = meta.flow_control.traffic.src;
                hdr.held_name.dst = meta.flow_control.traffic.dst;
                hdr.held_name.src_port = meta.flow_control.traffic.src_port;
                hdr.held_name.dst_port = meta.flow_control.traffic.dst_port;
                hdr.held_name.priority = meta.flow_control.traffic.priority;
            }
        }
    }
}

// HoldOrPass: a packet goes, or waits; a neighbour or a data centre is answered (SRF-7, SRF-9).
// Reads:  meta.flow_control.request, is_pause; headers; where the packet goes.
// Writes: what Holding and WaitForDc write.
// When:   it is known where the packet goes.
control HoldOrPass(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;
    Pauses() pauses;
    Holding() holding;
    WaitForDc() wait_for_dc;

    apply {
        hold_room_t room = ALL_ROOM;
        if (meta.flow_control.mode != FlowControl.OFF) {
            // An underlay datagram in no tunnel: its UDP header is the underlay's.
            if (hdr.udp.isValid() && !hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
                hdr.tunnel.udp = hdr.udp;
                hdr.udp.setInvalid();
            }
            // Notifications are not held; a customer's packet is none, whatever its port.
            if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE
                    && (meta.encapsulated || meta.base.notification_kind == NotificationKind.NONE)) {
                name_traffic.apply(hdr, meta, hdr.outer_ipv6.dst);
                if (meta.flow_control.is_named) {
                    meta.flow_control.request = HoldRequest.PASS;
                    meta.flow_control.hold_port = meta.base.egress_port;
                }
            }
        }
        if (meta.flow_control.is_pause
                || (meta.base.forward == Forward.VRF && meta.flow_control.mode != FlowControl.OFF
                    && meta.base.parse_more != WAITED_FOR_DC && meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE && !meta.make_cnp && !meta.base.is_done)) {
            pauses.apply(hdr.ipv4, hdr.ipv6, hdr.pause, standard_metadata.packet_length, meta, room);
        }
        if (meta.flow_control.request != HoldRequest.NONE && meta.base.drop_reason == DropReason.NONE) {
            holding.apply(
                meta.flow_control.hold_port, (bit<16>)standard_metadata.packet_length, room, meta.base,
                meta.flow_control);
            if (meta.base.forward == Forward.VRF || meta.base.parse_more == WAITED_FOR_DC) {
                wait_for_dc.apply(meta);
            }
        }
    }
}

// HeldBehindTunnel: what HoldTunnelEnd remembered.
// Writes: meta.traffic, meta.is_named.
// When:   in egress, a packet whose tunnel ended here.
control HeldBehindTunnel(in held_name_h name, inout flow_control_meta_t meta) {
    apply {
        meta.is_named = true;
        meta.traffic.ip_version = name.ip_version;
        meta.traffic.label = name.label;
        meta.traffic.protocol = name.protocol;
        meta.traffic.src = name.src;
        meta.traffic.dst = name.dst;
        meta.traffic.src_port = name.src_port;
        meta.traffic.dst_port = name.dst_port;
        meta.traffic.priority = name.priority;
    }
}

// HoldOrigin: who can be asked to hold this packet's traffic, a neighbour or a data centre (SRF-7, SRF-8).
// Writes: meta.flow_control.traffic, is_named, has_upstream, relief, refresh; the neighbour's headers.
// When:   in egress, first.
control HoldOrigin(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;
    HeldBehindTunnel() held_behind_tunnel;
    ArnUpstream() arn_upstream;
    DcRelief() dc_relief;
    HeldPriority() held_priority;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && (hdr.outer_ipv6.isValid() || hdr.held_name.isValid())) {
            if (hdr.held_name.isValid()) {
                held_behind_tunnel.apply(hdr.held_name, meta.flow_control);
            } else {
                name_traffic.apply(hdr, meta, meta.base.arrived_dst);
            }
            arn_upstream.apply(hdr.envelope, meta.flow_control);
            // What waits, or waited, for one data centre says nothing of the queue that another is paused for.
            if (!hdr.held_name.isValid() && !meta.flow_control.has_upstream && meta.base.parse_more != WAITED_FOR_DC
                    && standard_metadata.instance_type != INSTANCE_INGRESS_CLONE
                    && standard_metadata.instance_type != INSTANCE_EGRESS_CLONE) {
                dc_relief.apply(meta.flow_control);
                if (meta.flow_control.relief == Relief.PAUSE) {
                    held_priority.apply(meta.flow_control);
                }
            }
        }
    }
}

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

// Of a pause, in microseconds; controller/config/check_pauses.py sees to it that it is refreshed before
const flow_label_t LONGEST_PAUSE = 0xfffff;

// HoldAsk: is the neighbour, or the data centre, asked?
// Reads:  what HoldOrigin found; the queue; hold_ends of a packet that waits for a data centre.
// Writes: meta.base.stays: the packet waits, or is the copy of one that leaves after it has waited for a data centre;
//         meta.base.asks; meta.tell_interval: the sender is asked; meta.base.copy_label: how long a data centre's pause
//         goes on. An ARN says no more than that: nothing else is told by a packet that waits for a data centre.
// When:   in egress, no copy.
control HoldAsk(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    AskUpstream() ask_upstream;

    apply {
        bool parked = standard_metadata.egress_port == PARK_PORT;
        microseconds_t pause_left = 0;
        if (standard_metadata.instance_type == INSTANCE_INGRESS_CLONE) {
            meta.flow_control.queue = QueueState.RELIEVED;
            meta.base.stays = true;
        } else if (parked) {
            meta.base.stays = true;
            if (meta.base.parse_more == WAITED_FOR_DC) {
                bit<48> end;
                hold_ends.read(end, meta.flow_control.cell);
                if (end > standard_metadata.egress_global_timestamp) {
                    meta.flow_control.queue = QueueState.CONGESTED;
                    pause_left = (microseconds_t)(end - standard_metadata.egress_global_timestamp);
                    meta.base.copy_label = LONGEST_PAUSE;
                    if (pause_left < (microseconds_t)LONGEST_PAUSE) {
                        meta.base.copy_label = (flow_label_t)pause_left;
                    }
                }
            }
        }
        if (meta.flow_control.mode != FlowControl.OFF
                && (meta.flow_control.has_upstream || meta.flow_control.relief != Relief.NONE)
                && (meta.encapsulated || meta.base.notification_kind == NotificationKind.NONE)) {
            ask_upstream.apply(
                standard_metadata, parked, VRF_CELL(meta.base.vrf), pause_left, meta.flow_control,
                meta.base.asks);
            if (meta.flow_control.relief == Relief.CNP && (meta.flow_control.queue == QueueState.CONGESTED
                        || meta.flow_control.budget == BudgetState.CONGESTED)) {
                meta.tell_interval = meta.flow_control.refresh;
            }
        }
    }
}

// HoldEnd: one more copy for the neighbour; what waits goes round.
// Reads:  meta.base.asks, tells, stays.
// When:   in egress, last but for checksums. Ends the pass of what does not leave.
control HoldEnd(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    CopyForNeighbor() copy_for_neighbor;

    apply {
        if (meta.base.asks != NotificationKind.NONE) {
            copy_for_neighbor.apply(meta.base);
        }
        if (meta.base.stays) {
            if (standard_metadata.egress_port == PARK_PORT) {
                meta.base.now = standard_metadata.egress_global_timestamp;
                recirculate_preserving_field_list(KEEP_PARKED);
            } else {
                mark_to_drop(standard_metadata);
            }
            exit;
        }
    }
}

#endif
