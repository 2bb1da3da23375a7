#ifndef FCN_FAST_CNP_CHECKSUM_P4
#define FCN_FAST_CNP_CHECKSUM_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"

// FastCnpChecksum: the UDP checksum of a Fast CNP over exactly its fields (FCN-9): what follows them
// in a copy is cut off later. A sum of zero is sent as ones (RFC 768, RFC 8200 section 8.1).
// Reads:  IPv6 addresses, UDP ports, Fast CNP word; what is the same in every Fast CNP is constant here.
// Writes: checksum.
// When:   a Fast CNP was built, or one for this node arrived.
control FastCnpChecksum(
        in ipv6_h ipv6, in udp_h udp, in fast_cnp_h fast_cnp, out bit<16> checksum) {
    apply {
        hash(checksum, HashAlgorithm.csum16, 16w0,
             { ipv6.src, ipv6.dst, 16w0 ++ FAST_CNP_UDP_LENGTH ++ 24w0 ++ 8w17,
                   udp.src_port ++ udp.dst_port ++ FAST_CNP_UDP_LENGTH, fast_cnp.word },
             32w0x10000);
        if (checksum == 0) {
            checksum = 0xffff;
        }
    }
}

#endif
