// Links that fail, and what a P says of the paths that leave by them (FAN-1 to FAN-7): its steps in the order in which p.p4
// takes them.
#ifndef FCN_FANTEL_P_P4
#define FCN_FANTEL_P_P4

#include "../../base/v1model/p.p4"
#include "../links/link_types.p4"
#include "bfd_hello.p4"
#include "clock.p4"
#include "clock_leaving.p4"
#include "fantel_message.p4"
#include "link_registers.p4"
#include "link_repair.p4"
#include "path_notice.p4"
#include "port_sent.p4"
#include "receive_bfd.p4"

// HelloAgain: a hello made here leaves by the port it is for.
// Writes: meta.base.is_settled and egress_port.
// When:   a later pass.
control HelloAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.base.is_settled = true;
            meta.base.egress_port = meta.fantel.hello_port;
        }
    }
}

// ClockAgain: the clock packet has come round.
// Writes: meta.base.is_settled, egress_port or is_done, copy_kind; what Clock writes.
// When:   a later pass, behind what concerns copies.
control ClockAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    Clock() clock;

    apply {
        if (meta.fantel.is_clock == 1) {
            meta.base.is_settled = true;
            meta.base.egress_port = CLOCK_PORT;
            clock.apply(hdr.clock, meta.base.now, hdr.envelope, hdr.hello, hdr.notice, meta.base);
            if (!meta.base.is_done && hdr.notice.is_wanted == 1) {
                notifications_triggered.count(NotificationKind.FANTEL);
                meta.base.copy_kind = NotificationKind.FANTEL;
            }
        }
    }
}

// LinkHeard
// Writes: last_heard, of the port, and of all as that of CLOCK_PORT; meta.base.arrived_dst.
// When:   a packet from the wire.
control LinkHeard(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.parse_more == ParseMore.NONE) {
            last_heard.write(meta.base.ingress_port, standard_metadata.ingress_global_timestamp);
            last_heard.write(CLOCK_PORT, standard_metadata.ingress_global_timestamp);
        }
        meta.base.arrived_dst = hdr.outer_ipv6.dst;
    }
}

// LinkMessage: a BFD packet for this node; it is parsed on a second pass.
// Writes: meta.base.is_done, punt_reason; what ReceiveBfd writes. Ends the pass of a packet that is parsed again.
// When:   a packet for this node itself that no other mode has taken.
control LinkMessage(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    ReceiveBfd() receive_bfd;

    apply {
        if (!meta.base.is_done && hdr.tunnel.udp.isValid() && hdr.tunnel.udp.dst_port == UdpPort.BFD) {
            PARSE_AGAIN(meta.base, ParseMore.BFD)
            meta.base.is_done = true;
            meta.base.punt_reason = PuntReason.NONE;
            notifications_received.count(NotificationKind.HELLO);
            receive_bfd.apply(
                meta.base.ingress_port, hdr.outer_ipv6, hdr.tunnel.udp, hdr.bfd,
                standard_metadata.parser_error == error.NoError, meta.base.drop_reason);
        }
    }
}

// LinkDead: what has no next hop is looked at once more in egress, for the message about it.
// Writes: standard_metadata.egress_spec.
// When:   a packet is dropped.
control LinkDead(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.drop_reason == DropReason.LINK_DOWN && hdr.notice.isValid()) {
            standard_metadata.egress_spec = RECIRC_PORT;
        }
    }
}

// PathCopy: makes the copy of the clock packet a hello, or a copy a FANTEL message.
// Writes: headers; meta.fantel.hello_port.
// When:   on the egress copy of a packet.
control PathCopy(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    BfdHello() bfd_hello;
    FantelMessage() fantel_message;

    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.fantel.hello_port = hdr.hello.port;
            bfd_hello.apply(
                hdr.envelope, hdr.hello, hdr.ethernet, hdr.clock, hdr.outer_ipv6, hdr.tunnel.udp, hdr.bfd);
        } else if (meta.base.copy_kind == NotificationKind.FANTEL) {
            fantel_message.apply(hdr, meta.base.arrived_dst);
        }
    }
}

// LinkLeaving
// Writes: port_sent.
// When:   a packet leaves by a wire, behind QueueLevel.
control LinkLeaving(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    PortSent() sent;

    apply {
        sent.apply(
            standard_metadata, meta.base.level,
            (bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len));
    }
}

// PathCongested: the PE is to hear that the path of this packet is congested (FAN-6).
// Reads:  meta.base.mode.
// Writes: hdr.notice; last_congested.
// When:   a packet that would cause a notification is in a congested queue (FCN-8), DomainMode was applied.
control PathCongested(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.mode.congestion_kind == NotificationKind.FANTEL && !hdr.notice.isValid()) {
            last_congested.write(standard_metadata.egress_port, standard_metadata.egress_global_timestamp);
            hdr.notice.setValid();
            hdr.notice.report = PathReport.CONGESTED;
            hdr.notice.port = standard_metadata.egress_port;
            hdr.notice.level = (bit<8>)meta.base.level;
            hdr.notice.depth = (bit<32>)standard_metadata.deq_qdepth;
        }
    }
}

// PathTells: of the packet's path there is something to say.
// Reads:  hdr.notice.
// Writes: meta.base.tells, within the node's limit. What came for this only, and has no next hop, is dropped.
// When:   in egress, no copy.
control PathTells(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    PathNotice() path_notice;

    apply {
        if (hdr.notice.isValid()) {
            if (meta.base.notification_kind == NotificationKind.NONE) {
                path_notice.apply(
                    hdr.outer_ipv6, hdr.srv6.srh, standard_metadata.egress_global_timestamp, hdr.notice);
                if (hdr.notice.is_wanted == 1) {
                    meta.base.tells = NotificationKind.FANTEL;
                }
            }
            if (standard_metadata.egress_port == RECIRC_PORT) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

#endif
