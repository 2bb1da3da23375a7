#ifndef FCN_END_CON_PROFILE_P4
#define FCN_END_CON_PROFILE_P4

#include "../base/p_headers.p4"

// EndConProfile: how such a packet looks otherwise.
// Reads:  hdr.fast_cnp_profile.
// Writes: source, DSCP and hop limit of the underlay header; DSCP, TTL or hop limit of the CNP, its UDP source port.
// When:   an END.CON packet made here leaves.
control EndConProfile(inout p_headers_t hdr) {
    apply {
        hdr.outer_ipv6.src = hdr.fast_cnp_profile.src;
        hdr.outer_ipv6.dscp = hdr.fast_cnp_profile.traffic_class[7:2];
        hdr.outer_ipv6.hop_limit = hdr.fast_cnp_profile.hop_limit;
        hdr.inner.udp.src_port = hdr.fast_cnp_profile.udp_src_port;
        if (hdr.inner.ipv4.isValid()) {
            hdr.inner.ipv4.dscp = hdr.fast_cnp_profile.traffic_class[7:2];
            hdr.inner.ipv4.ttl = hdr.fast_cnp_profile.hop_limit;
        } else {
            hdr.inner.ipv6.dscp = hdr.fast_cnp_profile.traffic_class[7:2];
            hdr.inner.ipv6.hop_limit = hdr.fast_cnp_profile.hop_limit;
        }
    }
}

#endif
