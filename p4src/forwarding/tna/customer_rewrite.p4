#ifndef FCN_TNA_CUSTOMER_REWRITE_P4
#define FCN_TNA_CUSTOMER_REWRITE_P4

#include "../../base/headers.p4"
#include "../../base/pe_metadata.p4"

// CustomerRewrite: one hop further: TTL or hop limit, and the ECN field decapsulation decided.
// Reads:  meta.customer_ecn.
// Writes: TTL or hop limit, ECN. The IPv4 checksum is the top-level control's.
// When:   the packet goes on to a host or into a tunnel and was not made here.
control CustomerRewrite(inout ipv4_h ipv4, inout ipv6_h ipv6, in pe_meta_t meta) {
    apply {
        if (ipv4.isValid()) {
            ipv4.ttl = ipv4.ttl - 1;
            ipv4.ecn = meta.customer_ecn;
        } else {
            ipv6.hop_limit = ipv6.hop_limit - 1;
            ipv6.ecn = meta.customer_ecn;
        }
    }
}

#endif
