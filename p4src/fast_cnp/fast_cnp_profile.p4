#ifndef FCN_FAST_CNP_PROFILE_P4
#define FCN_FAST_CNP_PROFILE_P4

#include "../base/p_headers.p4"
#include "../base/sizes.p4"

// FastCnpProfile: how the Fast CNPs of this node look (FCN-9).
// Writes: the header `fast_cnp_profile`.
// When:   a Fast CNP is about to be made.
control FastCnpProfile(inout fast_cnp_profile_h fast_cnp_profile) {
    action set_fast_cnp_profile(
            ipv6_addr_t src, bit<16> udp_src_port, bit<16> udp_dst_port, bit<8> traffic_class,
            bit<8> hop_limit, bit<1> copy_label) {
        fast_cnp_profile.setValid();
        fast_cnp_profile.src = src;
        fast_cnp_profile.udp_src_port = udp_src_port;
        fast_cnp_profile.udp_dst_port = udp_dst_port;
        fast_cnp_profile.traffic_class = traffic_class;
        fast_cnp_profile.hop_limit = hop_limit;
        fast_cnp_profile.copy_label = copy_label;
    }

    @name(".fast_cnp_profile")
    table profile {
        actions = {
            set_fast_cnp_profile;
        }
        default_action = set_fast_cnp_profile(0, 0, 0, 0, TUNNEL_HOP_LIMIT, 0);
    }

    apply {
        profile.apply();
    }
}

#endif
