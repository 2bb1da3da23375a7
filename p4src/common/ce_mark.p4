#ifndef FCN_CE_MARK_P4
#define FCN_CE_MARK_P4

// CeMarkIpv4, CeMarkIpv6: set CE on an ECN-capable packet (RFC 3168 section 5, SRF-3).
// Reads:  ECN field.
// Writes: ECN field, IPv4 checksum (RFC 1624); marked.
// When:   the queue's level says so (meta.level_marks).
control CeMarkIpv4(inout ipv4_h ipv4, out bool marked) {
    apply {
        marked = false;
        if (ipv4.ecn != Ecn.NOT_ECT && ipv4.ecn != Ecn.CE) {
            bit<32> sum = (bit<32>)(~ipv4.checksum) + (bit<32>)(16w0xffff - (bit<16>)ipv4.ecn) + 3;
            sum = (sum & 0xffff) + (sum >> 16);
            sum = (sum & 0xffff) + (sum >> 16);
            ipv4.checksum = ~sum[15:0];
            ipv4.ecn = Ecn.CE;
            marked = true;
        }
    }
}

control CeMarkIpv6(inout ipv6_h ipv6, out bool marked) {
    apply {
        marked = false;
        if (ipv6.ecn != Ecn.NOT_ECT && ipv6.ecn != Ecn.CE) {
            ipv6.ecn = Ecn.CE;
            marked = true;
        }
    }
}

#endif
