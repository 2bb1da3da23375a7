#ifndef FCN_FANTEL_P_LINK_MESSAGE_P4
#define FCN_FANTEL_P_LINK_MESSAGE_P4

#include "../../../base/v1model/p.p4"
#include "../receive_bfd.p4"

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

#endif
