// Links and paths that fail, are congested or loaded, at a PE (FAN-1 to FAN-8): its steps in the order in which pe.p4 takes
// them.
#ifndef FCN_FANTEL_PE_P4
#define FCN_FANTEL_PE_P4

#include "../../base/v1model/pe.p4"
#include "../links/link_types.p4"
#include "../paths/path_types.p4"
#include "bfd_hello.p4"
#include "choose_path.p4"
#include "clock.p4"
#include "clock_leaving.p4"
#include "link_registers.p4"
#include "link_repair.p4"
#include "path_state.p4"
#include "port_sent.p4"
#include "receive_bfd.p4"
#include "receive_fantel.p4"

// PathChecksums: of FANTEL messages over UDP and over ICMPv6; fields of headers that are not valid count for nothing.
// Writes: standard_metadata.checksum_error.
// When:   every packet, behind the parser.
control PathChecksums(inout pe_headers_t hdr) {
    apply {
        verify_checksum(
            hdr.fantel.fantel.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.udp.length, 24w0, hdr.ipv6.next_header,
              hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length,
              hdr.fantel.fantel.version, hdr.fantel.fantel.type, hdr.fantel.fantel.code, hdr.fantel.fantel.reserved,
              hdr.fantel.origin.tlv, hdr.fantel.origin.node, hdr.fantel.origin.link, hdr.fantel.origin.epoch,
              hdr.fantel.origin.sequence,
              hdr.fantel.path.tlv, hdr.fantel.path.value,
              hdr.fantel.five_tuple.tlv, hdr.five_tuple.head.ip_version, hdr.five_tuple.head.label,
              hdr.five_tuple.head.protocol, hdr.five_tuple.ipv4.src, hdr.five_tuple.ipv4.dst, hdr.five_tuple.ipv6.src, hdr.five_tuple.ipv6.dst,
              hdr.five_tuple.ports.src_port, hdr.five_tuple.ports.dst_port,
              hdr.fantel.cause.tlv, hdr.fantel.cause.value,
              hdr.fantel.buffer.tlv, hdr.fantel.buffer.queue, hdr.fantel.buffer.level, hdr.fantel.buffer.reserved,
              hdr.fantel.buffer.depth,
              hdr.fantel.utilization.tlv, hdr.fantel.utilization.value,
              hdr.fantel.load.tlv, hdr.fantel.load.value },
            hdr.udp.checksum, HashAlgorithm.csum16);
        verify_checksum(
            hdr.fantel.icmpv6.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.fantel.icmpv6.icmpv6_type, hdr.fantel.icmpv6.code, hdr.fantel.icmpv6.type,
              hdr.fantel.icmpv6.version, hdr.fantel.icmpv6.reserved,
              hdr.fantel.origin.tlv, hdr.fantel.origin.node, hdr.fantel.origin.link, hdr.fantel.origin.epoch,
              hdr.fantel.origin.sequence,
              hdr.fantel.path.tlv, hdr.fantel.path.value,
              hdr.fantel.five_tuple.tlv, hdr.five_tuple.head.ip_version, hdr.five_tuple.head.label,
              hdr.five_tuple.head.protocol, hdr.five_tuple.ipv4.src, hdr.five_tuple.ipv4.dst, hdr.five_tuple.ipv6.src, hdr.five_tuple.ipv6.dst,
              hdr.five_tuple.ports.src_port, hdr.five_tuple.ports.dst_port,
              hdr.fantel.cause.tlv, hdr.fantel.cause.value,
              hdr.fantel.buffer.tlv, hdr.fantel.buffer.queue, hdr.fantel.buffer.level, hdr.fantel.buffer.reserved,
              hdr.fantel.buffer.depth,
              hdr.fantel.utilization.tlv, hdr.fantel.utilization.value,
              hdr.fantel.load.tlv, hdr.fantel.load.value },
            hdr.fantel.icmpv6.checksum, HashAlgorithm.csum16);
    }
}

// PathReported: the controller says something of a path, behind a packet-out to the CPU port.
// Writes: hdr.path_report, or where it says that a speaker's order is forgotten reporter_order; meta.base.now, is_settled, is_done.
// When:   a packet-out.
control PathReported(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.path_report.isValid()) {
            if (hdr.path_report.report == PathReport.FORGET) {
                reporter_order.write((reporter_cell_t)hdr.path_report.reporter, 0);
                hdr.path_report.setInvalid();
            }
            meta.base.now = standard_metadata.ingress_global_timestamp;
            meta.base.is_settled = true;
            meta.base.is_done = true;
        }
    }
}

// HelloAgain: a hello made here leaves by the port it is for.
// Writes: meta.base.is_settled and egress_port; the length of the frame.
// When:   a later pass.
control HelloAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.base.is_settled = true;
            meta.base.egress_port = meta.fantel.hello_port;
            truncate((bit<32>)(hdr.ipv6.payload_len + IPV6_LENGTH + ETHERNET_LENGTH));
        }
    }
}

// ClockAgain: the clock packet has come round; what it finds of the first link of a path this PE knows itself.
// Writes: meta.base.is_settled, egress_port or is_done; hdr.path_report; what Clock writes.
// When:   a later pass, behind what concerns copies.
control ClockAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    Clock() clock;

    apply {
        if (meta.fantel.is_clock == 1) {
            meta.base.is_settled = true;
            meta.base.egress_port = CLOCK_PORT;
            clock.apply(hdr.clock, meta.base.now, hdr.envelope, hdr.hello, hdr.notice, meta.base);
            if (!meta.base.is_done && hdr.notice.is_wanted == 1) {
                hdr.path_report.setValid();
                hdr.path_report.path_id = hdr.notice.path_id;
                hdr.path_report.reporter = PATH_BY_PE;
                hdr.path_report.report = hdr.notice.report;
                hdr.path_report.load = PATH_LOAD(hdr.notice.utilization, hdr.notice.level);
            }
        }
    }
}

// LinkHeard
// Writes: last_heard, of the port, and of all as that of CLOCK_PORT.
// When:   the first pass of a packet from the wire.
control LinkHeard(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        last_heard.write(meta.base.ingress_port, standard_metadata.ingress_global_timestamp);
        last_heard.write(CLOCK_PORT, standard_metadata.ingress_global_timestamp);
    }
}

// PathMessage: what a FANTEL message or a BFD packet for this PE says; its parameters are parsed on a second pass.
// Writes: hdr.path_report by a FANTEL message, state of a link by a BFD packet; meta.base.drop_reason, is_done. Ends
//         the first pass.
// When:   a packet from a core port that is for this node itself.
control PathMessage(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    ReceiveFantel() receive_fantel;
    ReceiveBfd() receive_bfd;

    apply {
        ParseMore message = ParseMore.NONE;
        if (meta.base.notification_kind == NotificationKind.FANTEL
                || (hdr.outer_ipv6.next_header == IpProtocol.ICMPV6 && !meta.base.is_nd
                    && (meta.base.parse_more == ParseMore.NONE || hdr.fantel.icmpv6.isValid()))) {
            message = ParseMore.FANTEL;
        } else if (hdr.outer_ipv6.next_header == IpProtocol.UDP && !hdr.tunnel.udp.isValid() && hdr.udp.isValid()
                && hdr.udp.dst_port == UdpPort.BFD) {
            message = ParseMore.BFD;
        }
        if (message != ParseMore.NONE) {
            PARSE_AGAIN(meta.base, message)
            meta.base.is_done = true;
        }
        if (message == ParseMore.FANTEL) {
            bit<16> octets = hdr.udp.length;
            bool is_right = standard_metadata.checksum_error == 0;
            if (hdr.fantel.icmpv6.isValid()) {
                octets = hdr.outer_ipv6.payload_len + UDP_LENGTH - FANTEL_WORD_OF_ICMPV6;
                hdr.fantel.fantel.setValid();
                hdr.fantel.fantel.type = hdr.fantel.icmpv6.type;
                hdr.fantel.fantel.code = hdr.fantel.icmpv6.code;
            } else {
                is_right = is_right && hdr.outer_ipv6.payload_len == octets;
            }
            receive_fantel.apply(
                meta.base.ingress_port, hdr.outer_ipv6.src, meta.base.now[31:0], octets, hdr.fantel, hdr.five_tuple,
                meta.is_trusted, is_right, hdr.path_report, meta.base.drop_reason);
        } else if (message == ParseMore.BFD) {
            notifications_received.count(NotificationKind.HELLO);
            receive_bfd.apply(
                meta.base.ingress_port, hdr.outer_ipv6, hdr.udp, hdr.bfd, !meta.parse_failed,
                meta.base.drop_reason);
        }
    }
}

// PathFlow: the flow that a FANTEL message names is looked up by its label, whatever the message came in.
// Writes: meta.notify_label, meta.base.notification_kind.
// When:   before UnderlayLookup.
control PathFlow(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.parse_more == ParseMore.FANTEL && hdr.five_tuple.head.isValid()) {
            meta.notify_label = hdr.five_tuple.head.label;
        }
        if (hdr.fantel.icmpv6.isValid()) {
            meta.base.notification_kind = NotificationKind.FANTEL;
        }
    }
}

// PathUpdate: a report on a path changes where packets go; where nothing better is left the sender gets a CNP, as by a Fast
// CNP (FAN-4, FAN-6).
// Reads:  hdr.path_report; meta.notify_label, label_fault.
// Writes: what PathState writes; meta.make_cnp, meta.base.forward, is_done.
// When:   behind what may have a report.
control PathUpdate(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PathState() path_state;

    apply {
        if (hdr.path_report.isValid()) {
            bool nothing_left;
            path_state.apply(hdr.path_report, meta.base.now, nothing_left);
            if (nothing_left && meta.notify_label & FCN_LABEL_BIT != 0 && meta.label_fault == DropReason.NONE
                    && meta.base.mode.translates != NotificationKind.NONE) {
                hdr.five_tuple.head.setInvalid();
                hdr.five_tuple.ipv4.setInvalid();
                hdr.five_tuple.ipv6.setInvalid();
                hdr.five_tuple.ports.setInvalid();
                meta.base.is_done = false;
                meta.make_cnp = true;
                meta.base.forward = Forward.VRF;
            }
        }
    }
}

// PathChosen
// Writes: meta.tunnel, that of a path of the policy.
// When:   a packet is about to enter a tunnel.
control PathChosen(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    ChoosePath() choose_path;

    apply {
        if (IS_POLICY(meta.tunnel)) {
            choose_path.apply(hdr, meta, meta.base.now);
        }
    }
}

// HelloCopy: makes the copy of the clock packet a hello.
// Writes: headers; meta.fantel.hello_port.
// When:   on the egress copy of a packet.
control HelloCopy(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    BfdHello() bfd_hello;

    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.fantel.hello_port = hdr.hello.port;
            bfd_hello.apply(
                hdr.envelope, hdr.hello, hdr.ethernet, hdr.clock, hdr.outer_ipv6, hdr.tunnel.udp, hdr.bfd);
        }
    }
}

// LinkLeaving
// Writes: port_sent, last_congested.
// When:   a packet leaves by a wire, behind QueueLevel.
control LinkLeaving(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PortSent() sent;

    apply {
        bit<32> octets = standard_metadata.packet_length;
        if (hdr.outer_ipv6.isValid()) {
            octets = (bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len);
        }
        sent.apply(standard_metadata, meta.base.level, octets);
        if (meta.base.level_notifies == 1 && hdr.outer_ipv6.isValid()) {
            last_congested.write(standard_metadata.egress_port, standard_metadata.egress_global_timestamp);
        }
    }
}

// PathCongested: the sender hears that its flow's path is congested farther on; a message about a path is for so many
// senders and no more (FAN-6, ALL-4).
// Reads:  meta.fantel.path_cnp_interval; whether the sender is told for another reason.
// Writes: meta.tell_interval, meta.fantel.tells_of_path.
// When:   before TellSender.
control PathCongested(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.fantel.path_cnp_interval != 0 && meta.flow_label_assigned && meta.tell_interval == 0
                && (meta.base.level_notifies == 0 || meta.base.mode.congestion_kind == NotificationKind.NONE)) {
            bit<16> left;
            path_cnps.read(left, meta.fantel.path_cnp_policy);
            if (left == 0) {
                node_rate_suppressed.count(NotificationKind.CNP);
            } else {
                meta.tell_interval = meta.fantel.path_cnp_interval;
                meta.fantel.tells_of_path = true;
            }
        }
    }
}

// PathCounted
// Writes: path_cnps.
// When:   behind TellSender.
control PathCounted(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.fantel.tells_of_path && meta.base.tells != NotificationKind.NONE) {
            bit<16> left;
            path_cnps.read(left, meta.fantel.path_cnp_policy);
            path_cnps.write(meta.fantel.path_cnp_policy, left - 1);
        }
    }
}

#endif
