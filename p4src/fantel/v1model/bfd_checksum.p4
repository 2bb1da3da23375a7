#ifndef FCN_BFD_CHECKSUM_P4
#define FCN_BFD_CHECKSUM_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../links/bfd_headers.p4"

// BfdChecksum: the UDP checksum of a BFD control packet over exactly its fields.
// Reads:  IPv6 addresses, UDP header, BFD header.
// Writes: checksum.
// When:   a BFD control packet was made, or one for this node arrived.
control BfdChecksum(in ipv6_h ipv6, in udp_h udp, in bfd_h bfd, out bit<16> checksum) {
    apply {
        hash(checksum, HashAlgorithm.csum16, 16w0,
             { ipv6.src, ipv6.dst, 16w0 ++ udp.length ++ 24w0 ++ 8w17, udp.src_port ++ udp.dst_port ++ udp.length,
                   bfd.version ++ (bit<5>)bfd.diagnostic ++ (bit<2>)bfd.state ++ bfd.flags ++ bfd.detect_multiplier
                       ++ bfd.length,
                   bfd.my_discriminator, bfd.your_discriminator, bfd.desired_min_tx, bfd.required_min_rx,
                   bfd.required_min_echo_rx },
             32w0x10000);
        if (checksum == 0) {
            checksum = 0xffff;
        }
    }
}

#endif
