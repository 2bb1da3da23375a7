#ifndef FCN_FANTEL_PROFILE_P4
#define FCN_FANTEL_PROFILE_P4

// FantelProfile: how this node's FANTEL messages look, and who it is in them (FAN-1 to FAN-3).
// Writes: profile.
// When:   a FANTEL message is about to be made.
control FantelProfile(inout fantel_profile_h profile) {
    action set_fantel_profile(
            ipv6_addr_t src, bit<16> udp_src_port, bit<16> udp_dst_port, bit<6> dscp, bit<1> over_icmpv6,
            bit<32> node, bit<32> epoch) {
        profile.src = src;
        profile.udp_src_port = udp_src_port;
        profile.udp_dst_port = udp_dst_port;
        profile.dscp = dscp;
        profile.over_icmpv6 = over_icmpv6;
        profile.node = node;
        profile.epoch = epoch;
    }

    @name(".fantel_profile")
    table fantel_profile {
        actions = {
            set_fantel_profile;
        }
        default_action = set_fantel_profile(0, 0, 0, 0, 0, 0, 0);
    }

    apply {
        profile.setValid();
        fantel_profile.apply();
    }
}

#endif
