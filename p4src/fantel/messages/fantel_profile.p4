#ifndef FCN_FANTEL_PROFILE_P4
#define FCN_FANTEL_PROFILE_P4

#include "../../base/headers.p4"
#include "../links/bfd_headers.p4"
#include "fantel_headers.p4"

// FantelProfile: how this node's FANTEL messages look, and who it is in them (FAN-1 to FAN-3).
// Writes: addresses and ports of the underlay; notice.over_icmpv6; the origin's node and epoch.
// When:   a FANTEL message is being made.
control FantelProfile(inout ipv6_h ipv6, inout udp_h udp, inout notice_h notice, inout fantel_path_h about) {
    action set_fantel_profile(
            ipv6_addr_t src, bit<16> udp_src_port, bit<16> udp_dst_port, bit<6> dscp, bit<1> over_icmpv6,
            bit<32> node, bit<32> epoch) {
        ipv6.src = src;
        ipv6.dscp = dscp;
        udp.src_port = udp_src_port;
        udp.dst_port = udp_dst_port;
        notice.over_icmpv6 = over_icmpv6;
        about.node = node;
        about.epoch = epoch;
    }

    @name(".fantel_profile")
    table fantel_profile {
        actions = {
            set_fantel_profile;
        }
        default_action = set_fantel_profile(0, 0, 0, 0, 0, 0, 0);
    }

    apply {
        fantel_profile.apply();
    }
}

#endif
