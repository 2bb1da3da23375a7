#ifndef FCN_FANTEL_PE_PATH_MESSAGE_P4
#define FCN_FANTEL_PE_PATH_MESSAGE_P4

#include "../../../base/v1model/pe.p4"
#include "../receive_bfd.p4"
#include "../receive_fantel.p4"

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

#endif
