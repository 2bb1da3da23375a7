#ifndef FCN_FANTEL_MESSAGE_P4
#define FCN_FANTEL_MESSAGE_P4

#include "../../base/v1model/p.p4"
#include "../links/link_types.p4"
#include "../messages/fantel_headers.p4"
#include "../messages/fantel_profile.p4"
#include "link_registers.p4"

// Of the messages of this node
register<bit<32>, bit<1>>(1) fantel_sequence;

// FantelMessage: makes a packet a FANTEL message about a path for its ingress PE (FAN-1 to FAN-4, FAN-6, FAN-7). One that
// met the failure or congestion is named in it.
// Reads:  notice; the packet it is made of: the clock packet, or one of the path, and the destination it came with;
//         why the link is down.
// Writes: underlay, UDP or ICMPv6, and FANTEL headers; the clock's header and the SRH end. What the deparser emits behind the
//         message is cut off.
// When:   on the egress copy of a packet.
control FantelMessage(inout p_headers_t hdr, in ipv6_addr_t arrived_dst) {
    FantelProfile() fantel_profile;

    apply {
        // As behind UDP
        bit<16> length = UDP_LENGTH + FANTEL_LENGTH + FANTEL_WORD_LENGTH;
        FantelType type = FantelType.FAILURE;
        bit<8> code = FANTEL_ORIGIN | FANTEL_PATH;
        hdr.fantel.about.setValid();
        hdr.fantel.about.tlv_origin = TLV_ORIGIN;
        hdr.fantel.about.link = (bit<32>)hdr.notice.port;
        bit<32> sequence;
        fantel_sequence.read(sequence, 0);
        sequence = sequence + 1;
        fantel_sequence.write(0, sequence);
        hdr.fantel.about.sequence = sequence;
        hdr.fantel.about.tlv_path = TLV_PATH;
        hdr.fantel.about.path_id = hdr.notice.path_id;
        // The sum does not depend on the order of 16-bit words, and what is absent is zero.
        bit<352> five_tuple = 0;
        bit<64> cause = 0;
        bit<96> queue = 0;
        bit<128> load = 0;
        if (hdr.outer_ipv6.isValid()) {
            bit<32> ports = 0;
            if (hdr.tunnel.udp.isValid()) {
                ports = hdr.tunnel.udp.src_port ++ hdr.tunnel.udp.dst_port;
            }
            bit<8> protocol = service_protocol(hdr.outer_ipv6.next_header);
            hdr.fantel.five_tuple.setValid();
            hdr.fantel.five_tuple.tlv_tuple = TLV_IPV6_TUPLE;
            hdr.fantel.five_tuple.ip_version = 6;
            hdr.fantel.five_tuple.label = hdr.outer_ipv6.flow_label;
            hdr.fantel.five_tuple.protocol = protocol;
            hdr.fantel.five_tuple.src = hdr.outer_ipv6.src;
            hdr.fantel.five_tuple.dst = arrived_dst;
            hdr.fantel.five_tuple.src_port = ports[31:16];
            hdr.fantel.five_tuple.dst_port = ports[15:0];
            five_tuple = TLV_IPV6_TUPLE ++ 4w6 ++ hdr.outer_ipv6.flow_label ++ protocol ++ hdr.outer_ipv6.src
                ++ arrived_dst ++ ports;
            code = code | FANTEL_TUPLE;
            length = length + FANTEL_IPV6_TUPLE_LENGTH;
        }
        if (hdr.notice.report == PathReport.WELL) {
            type = FantelType.FAILURE_CLEARED;
        } else if (hdr.notice.report == PathReport.RELIEVED) {
            type = FantelType.CONGESTION_CLEARED;
        } else if (hdr.notice.report == PathReport.CONGESTED) {
            type = FantelType.CONGESTION;
        } else if (hdr.notice.report == PathReport.LOAD) {
            type = FantelType.LOAD;
            hdr.fantel.load.setValid();
            hdr.fantel.load.tlv_utilization = TLV_UTILIZATION;
            hdr.fantel.load.utilization = hdr.notice.utilization ++ 16w0;
            hdr.fantel.load.tlv_load = TLV_LOAD;
            hdr.fantel.load.load = hdr.notice.load ++ 16w0;
            load = TLV_UTILIZATION ++ hdr.notice.utilization ++ 16w0 ++ TLV_LOAD ++ hdr.notice.load ++ 16w0;
            code = code | FANTEL_UTILIZATION | FANTEL_LOAD;
            length = length + 2 * FANTEL_WORD_LENGTH;
        } else {
            bit<8> why;
            link_causes.read(why, hdr.notice.port);
            hdr.fantel.cause.setValid();
            hdr.fantel.cause.tlv = TLV_CAUSE;
            hdr.fantel.cause.value = why ++ 24w0;
            cause = TLV_CAUSE ++ why ++ 24w0;
            code = code | FANTEL_CAUSE;
            length = length + FANTEL_WORD_LENGTH;
        }
        if ((hdr.notice.report == PathReport.CONGESTED || hdr.notice.report == PathReport.LOAD)
                && hdr.notice.level != 0) {
            hdr.fantel.buffer.setValid();
            hdr.fantel.buffer.tlv = TLV_BUFFER;
            hdr.fantel.buffer.queue = 0;
            hdr.fantel.buffer.level = hdr.notice.level;
            hdr.fantel.buffer.reserved = 0;
            hdr.fantel.buffer.depth = hdr.notice.depth;
            queue = TLV_BUFFER ++ 8w0 ++ hdr.notice.level ++ 16w0 ++ hdr.notice.depth;
            code = code | FANTEL_BUFFER;
            length = length + FANTEL_BUFFER_LENGTH;
        }

        hdr.clock.setInvalid();
        REMOVE_SRH(hdr.srv6)
        hdr.ethernet.ether_type = EtherType.IPV6;
        hdr.outer_ipv6.setValid();
        hdr.tunnel.udp.setValid();
        fantel_profile.apply(hdr.outer_ipv6, hdr.tunnel.udp, hdr.notice, hdr.fantel.about);
        hdr.outer_ipv6.version = 6;
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
        hdr.outer_ipv6.flow_label = 0;
        hdr.outer_ipv6.hop_limit = FANTEL_HOP_LIMIT;
        hdr.outer_ipv6.dst = hdr.notice.ingress_pe;
        bit<32> transport;
        bit<16> udp_length = 0;
        if (hdr.notice.over_icmpv6 == 1) {
            length = length - UDP_LENGTH + FANTEL_WORD_OF_ICMPV6;
            hdr.tunnel.udp.setInvalid();
            hdr.outer_ipv6.next_header = IpProtocol.ICMPV6;
            hdr.fantel.icmpv6.setValid();
            hdr.fantel.icmpv6.type = FANTEL_ICMPV6_TYPE;
            hdr.fantel.icmpv6.code = code;
            hdr.fantel.about.first_word = (bit<8>)type ++ 24w0;
            transport = 16w0 ++ FANTEL_ICMPV6_TYPE ++ code;
        } else {
            hdr.outer_ipv6.next_header = IpProtocol.UDP;
            hdr.tunnel.udp.length = length;
            hdr.fantel.about.first_word = 8w0 ++ (bit<8>)type ++ code ++ 8w0;
            transport = hdr.tunnel.udp.src_port ++ hdr.tunnel.udp.dst_port;
            // The length stands twice in the sum: in the pseudo header, too.
            udp_length = length;
        }
        hdr.outer_ipv6.payload_len = length;
        bit<16> checksum;
        hash(checksum, HashAlgorithm.csum16, 16w0,
             { hdr.outer_ipv6.src, hdr.outer_ipv6.dst, udp_length ++ length ++ 24w0 ++ hdr.outer_ipv6.next_header, transport,
                   hdr.fantel.about.first_word, TLV_ORIGIN, hdr.fantel.about.node, hdr.fantel.about.link, hdr.fantel.about.epoch,
                   hdr.fantel.about.sequence, TLV_PATH, hdr.fantel.about.path_id, five_tuple, cause, queue,
                   load },
             32w0x10000);
        if (hdr.notice.over_icmpv6 == 1) {
            hdr.fantel.icmpv6.checksum = checksum;
        } else if (checksum == 0) {
            hdr.tunnel.udp.checksum = 0xffff;
        } else {
            hdr.tunnel.udp.checksum = checksum;
        }
    }
}

#endif
