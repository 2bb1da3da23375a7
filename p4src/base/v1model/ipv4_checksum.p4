#ifndef FCN_IPV4_CHECKSUM_P4
#define FCN_IPV4_CHECKSUM_P4

// Ipv4Checksum: updates the checksum instead of computing it (RFC 1624), so options need no parsing.
// Reads:  ECN field before and after.
// Writes: checksum.
// When:   the ECN field of a packet changes that was not made here.
control Ipv4Checksum(inout bit<16> checksum, in bit<2> old_ecn, in bit<2> new_ecn) {
    apply {
        bit<32> sum = (bit<32>)(~checksum) + (bit<32>)(~(bit<16>)old_ecn) + (bit<32>)new_ecn;
        sum = (sum & 0xffff) + (sum >> 16);
        sum = (sum & 0xffff) + (sum >> 16);
        checksum = ~sum[15:0];
    }
}

#endif
