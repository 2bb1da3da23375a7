#ifndef FCN_ENTROPY_P4
#define FCN_ENTROPY_P4

#include "../../base/v1model/pe.p4"


// Entropy: a hash over what identifies the customer's flow (RFC 6438).
// Writes: meta.entropy.
// When:   a packet is about to enter a tunnel.
control Entropy(in pe_headers_t hdr, inout pe_meta_t meta) {
    apply {
        bit<16> src_port = 0;
        bit<16> dst_port = 0;
        if (hdr.udp.isValid()) {
            src_port = hdr.udp.src_port;
            dst_port = hdr.udp.dst_port;
        }
        if (hdr.ipv4.isValid()) {
            hash(meta.entropy, HashAlgorithm.crc32, 32w0,
                 { meta.base.vrf ++ hdr.ipv4.src, hdr.ipv4.dst ++ hdr.ipv4.protocol ++ src_port,
                   dst_port },
                 64w0x100000000);
        } else {
            hash(meta.entropy, HashAlgorithm.crc32, 32w0,
                 { meta.base.vrf, hdr.ipv6.src, hdr.ipv6.dst,
                   hdr.ipv6.next_header ++ hdr.ipv6.flow_label ++ src_port ++ dst_port },
                 64w0x100000000);
        }
    }
}

#endif
