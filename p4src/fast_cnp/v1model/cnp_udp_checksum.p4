#ifndef FCN_CNP_UDP_CHECKSUM_P4
#define FCN_CNP_UDP_CHECKSUM_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"

// CnpUdpChecksum: the UDP checksum of a CNP over IPv6; over IPv4 it is zero, as real NICs send it.
// Reads:  IPv6 addresses, UDP source port, BTH P_Key and DestQP, ICRC; what is the same in every CNP is
//         constant here.
// Writes: UDP checksum.
// When:   the CNP is complete.
control CnpUdpChecksum(in ipv6_h ipv6, in bth_h bth, in cnp_payload_h cnp_payload, inout udp_h udp) {
    apply {
        hash(udp.checksum, HashAlgorithm.csum16, 16w0,
             { ipv6.src, ipv6.dst, 16w0 ++ CNP_UDP_LENGTH ++ 24w0 ++ 8w17,
                   udp.src_port ++ 16w4791 ++ CNP_UDP_LENGTH ++ 8w0x81 ++ 8w0,
                   bth.p_key ++ 8w0x40 ++ bth.dest_qp ++ 8w0, 24w0, 128w0,
                   cnp_payload.icrc },
             32w0x10000);
        if (udp.checksum == 0) {
            udp.checksum = 0xffff;
        }
    }
}

#endif
