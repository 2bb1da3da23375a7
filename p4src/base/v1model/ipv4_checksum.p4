#ifndef FCN_IPV4_CHECKSUM_P4
#define FCN_IPV4_CHECKSUM_P4

#include "externs.p4"

// Ipv4Checksum: updates the checksum instead of computing it (RFC 1624), so options need no parsing.
// Reads:  ECN field before and after; what a smaller TTL adds to the sum, TTL_STEP or 0.
// Writes: checksum.
// When:   the ECN field or the TTL of a packet changes that was not made here.
const bit<16> TTL_STEP = 0xfeff; // ~0x0100: TTL is the upper octet of its word

control Ipv4Checksum(
        inout bit<16> checksum, in bit<2> old_ecn, in bit<2> new_ecn, in bit<16> ttl_step) {
    apply {
        bit<32> sum = (bit<32>)(~checksum) + (bit<32>)ttl_step + (bit<32>)(~(bit<16>)old_ecn) + (bit<32>)new_ecn;
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        checksum = ~sum[15:0];
    }
}

#endif
