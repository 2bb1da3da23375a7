#ifndef FCN_RECEIVE_BFD_P4
#define FCN_RECEIVE_BFD_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"
#include "../links/bfd_headers.p4"
#include "../links/bfd_session.p4"
#include "../links/link_types.p4"
#include "bfd_checksum.p4"
#include "bfd_update.p4"

// ReceiveBfd: takes what the far end of a link says (RFC 5880 section 6.8.6, RFC 5881 section 5).
// Reads:  the port it came from, underlay and UDP header, BFD header; whether the parser reached its end.
// Writes: drop_reason; what BfdUpdate writes.
// When:   the pass on which a BFD control packet for this node is parsed.
control ReceiveBfd(
        in port_t port, in ipv6_h ipv6, in udp_h udp, in bfd_h bfd, in bool parsed, inout DropReason drop_reason) {
    BfdSession() bfd_session;
    BfdChecksum() bfd_checksum;
    BfdUpdate() bfd_update;

    apply {
        bool is_known;
        bit<32> my_discriminator;
        bit<16> checksum;
        bfd_session.apply(port, ipv6.src, is_known, my_discriminator);
        bfd_checksum.apply(ipv6, udp, bfd, checksum);
        // Authentication and multipoint are not known here. No discriminator comes from who does not hear this node.
        if (!is_known || ipv6.hop_limit != BFD_HOP_LIMIT) {
            drop_reason = DropReason.NOTIFICATION_UNTRUSTED;
        } else if (!parsed || checksum != udp.checksum || udp.length != BFD_UDP_LENGTH
                || ipv6.payload_len != BFD_UDP_LENGTH || bfd.version != BFD_VERSION || bfd.length != BFD_LENGTH
                || bfd.flags & BFD_REFUSED_FLAGS != 0 || bfd.detect_multiplier == 0 || bfd.my_discriminator == 0
                || (bfd.your_discriminator != my_discriminator
                    && (bfd.your_discriminator != 0 || (bit<2>)bfd.state > (bit<2>)BfdState.DOWN))) {
            drop_reason = DropReason.NOTIFICATION_MALFORMED;
        } else {
            bfd_update.apply(port, bfd);
        }
    }
}

#endif
