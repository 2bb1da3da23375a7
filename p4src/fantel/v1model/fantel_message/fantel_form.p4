#ifndef FCN_FANTEL_FORM_P4
#define FCN_FANTEL_FORM_P4

#include "../../../base/v1model/p.p4"
#include "fantel_checksum.p4"
#include "fantel_draft.p4"

// FantelForm: the message is in a UDP datagram, or in one of ICMPv6 (FAN-2, FAN-3).
// Reads:  hdr.notice.over_icmpv6; draft; all headers of the message.
// Writes: first word of hdr.fantel.about; UDP or ICMPv6 header; length of the underlay header.
// When:   last.
control FantelForm(inout p_headers_t hdr, inout fantel_draft_t draft) {
    FantelChecksum() fantel_checksum;

    apply {
        bit<32> transport;
        bit<16> udp_length = 0;
        if (hdr.notice.over_icmpv6 == 1) {
            draft.length = draft.length - UDP_LENGTH + FANTEL_WORD_OF_ICMPV6;
            hdr.tunnel.udp.setInvalid();
            hdr.outer_ipv6.next_header = IpProtocol.ICMPV6;
            hdr.fantel.icmpv6.setValid();
            hdr.fantel.icmpv6.type = FANTEL_ICMPV6_TYPE;
            hdr.fantel.icmpv6.code = draft.code;
            hdr.fantel.about.first_word = (bit<8>)draft.type ++ 24w0;
            transport = 16w0 ++ FANTEL_ICMPV6_TYPE ++ draft.code;
        } else {
            hdr.outer_ipv6.next_header = IpProtocol.UDP;
            hdr.tunnel.udp.length = draft.length;
            hdr.fantel.about.first_word = 8w0 ++ (bit<8>)draft.type ++ draft.code ++ 8w0;
            transport = hdr.tunnel.udp.src_port ++ hdr.tunnel.udp.dst_port;
            // The length stands twice in the sum: in the pseudo header, too.
            udp_length = draft.length;
        }
        hdr.outer_ipv6.payload_len = draft.length;
        bit<16> checksum;
        fantel_checksum.apply(hdr.outer_ipv6, hdr.fantel.about, draft, transport, udp_length, checksum);
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
