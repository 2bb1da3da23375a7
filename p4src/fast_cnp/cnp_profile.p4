#ifndef FCN_CNP_PROFILE_P4
#define FCN_CNP_PROFILE_P4

#include "../base/pe_headers.p4"
#include "../base/sizes.p4"

// CnpProfile: how the CNPs of this node look, and how far apart those of one flow are (FCN-13, FCN-15).
// Writes: the header `cnp_profile`.
// When:   a CNP is about to be made.
control CnpProfile(inout cnp_profile_h cnp_profile) {
    action set_cnp_profile(
            bit<8> traffic_class, bit<8> ttl, bit<16> udp_src_port, bit<16> ipv4_id,
            interval_t min_interval) {
        cnp_profile.setValid();
        cnp_profile.traffic_class = traffic_class;
        cnp_profile.ttl = ttl;
        cnp_profile.udp_src_port = udp_src_port;
        cnp_profile.ipv4_id = ipv4_id;
        cnp_profile.min_interval = min_interval;
    }

    PLACED(cnp_profile) @name(".cnp_profile")
    table profile {
        actions = {
            set_cnp_profile;
        }
        default_action = set_cnp_profile(0, TUNNEL_HOP_LIMIT, 0, 0, 0);
    }

    apply {
        profile.apply();
    }
}

#endif
