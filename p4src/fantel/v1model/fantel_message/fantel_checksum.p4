#ifndef FCN_FANTEL_CHECKSUM_P4
#define FCN_FANTEL_CHECKSUM_P4

#include "../../../base/v1model/externs.p4"
#include "../../../base/headers.p4"
#include "fantel_draft.p4"

// FantelChecksum: that of UDP or ICMPv6 over exactly the headers of a message.
// Reads:  underlay header; hdr.fantel.about; draft; transport: ports, or type and code; udp_length, 0 without UDP.
// Writes: checksum.
// When:   the message is whole.
control FantelChecksum(
        in ipv6_h ipv6, in fantel_path_h about, in fantel_draft_t draft, in bit<32> transport, in bit<16> udp_length,
        out bit<16> checksum) {
    apply {
        hash(checksum, HashAlgorithm.csum16, 16w0,
             { ipv6.src, ipv6.dst, udp_length ++ ipv6.payload_len ++ 24w0 ++ ipv6.next_header, transport, about.first_word,
                   TLV_ORIGIN, about.node, about.link, about.epoch, about.sequence, TLV_PATH, about.path_id,
                   draft.five_tuple, draft.cause, draft.buffer, draft.load },
             32w0x10000);
    }
}

#endif
