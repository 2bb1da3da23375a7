#ifndef FCN_NODE_MESSAGE_P4
#define FCN_NODE_MESSAGE_P4

// NodeMessage: ARN, FANTEL and BFD messages for this PE. Their parameters are parsed on a second pass.
// Reads:  what of the packet the first pass found; headers of the message on the second.
// Writes: is_done, the packet is used up; hold_port and meta.flow_control by an ARN; hdr.path_report by a FANTEL
//         message; state of a link by a BFD packet; meta.base.drop_reason. Ends the pass of a packet that is parsed again.
// When:   packets of the underlay from a core port that are for this node itself.
control NodeMessage(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata, inout bool is_done,
        inout port_t hold_port) {
    ReceiveArn() receive_arn;
    ReceiveFantel() receive_fantel;
    ReceiveBfd() receive_bfd;

    apply {
        ParseMore message = ParseMore.NONE;
        if (meta.base.notification_kind == NotificationKind.ARN && meta.flow_control.mode != FlowControl.OFF) {
            message = ParseMore.ARN;
        } else if (meta.base.notification_kind == NotificationKind.FANTEL
                || (hdr.outer_ipv6.next_header == IpProtocol.ICMPV6 && !meta.base.is_nd
                    && (meta.flow_control.parse_more == ParseMore.NONE || hdr.fantel.icmpv6.isValid()))) {
            message = ParseMore.FANTEL;
        } else if (hdr.outer_ipv6.next_header == IpProtocol.UDP && !hdr.tunnel.udp.isValid() && hdr.udp.isValid()
                && hdr.udp.dst_port == UdpPort.BFD) {
            message = ParseMore.BFD;
        }
        if (message != ParseMore.NONE) {
            if (meta.flow_control.parse_more == ParseMore.NONE) {
                meta.flow_control.parse_more = message;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
            is_done = true;
        }
        if (message == ParseMore.ARN) {
            hold_port = meta.base.ingress_port;
            receive_arn.apply(
                meta.base.ingress_port, hdr.outer_ipv6, hdr.udp, hdr.arn, !meta.parse_failed,
                meta.flow_control, meta.base.drop_reason);
        } else if (message == ParseMore.FANTEL) {
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
                meta.base.ingress_port, hdr.outer_ipv6.src, meta.flow_control.now[31:0], octets, hdr.fantel, hdr.arn,
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
