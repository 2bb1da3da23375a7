#ifndef FCN_FAST_CNP_P4
#define FCN_FAST_CNP_P4

// FastCnpProfile: does this node send Fast CNPs, and what do they look like? (FCN-9, FCN-16)
// Writes: meta.notify_enabled, meta.fast_cnp_*.
// When:   every packet in egress.
control FastCnpProfile(inout meta_t meta) {
    action fast_cnp_enabled(
            ipv6_addr_t src, bit<16> udp_src_port, bit<16> udp_dst_port, bit<8> traffic_class,
            bit<8> hop_limit, bit<1> copy_label) {
        meta.notify_enabled = 1;
        meta.fast_cnp_src = src;
        meta.fast_cnp_udp_src_port = udp_src_port;
        meta.fast_cnp_udp_dst_port = udp_dst_port;
        meta.fast_cnp_traffic_class = traffic_class;
        meta.fast_cnp_hop_limit = hop_limit;
        meta.fast_cnp_copy_label = copy_label;
    }
    action fast_cnp_disabled() {
        meta.notify_enabled = 0;
    }

    @name(".fast_cnp_profile")
    table fast_cnp_profile {
        actions = {
            fast_cnp_enabled;
            fast_cnp_disabled;
        }
        default_action = fast_cnp_disabled;
    }

    apply {
        fast_cnp_profile.apply();
    }
}

// FastCnp: turns the copy of a congested packet into a Fast CNP (FCN-9, FCN-10).
// Reads:  outer source and flow label of the packet; meta.copy_level, meta.fast_cnp_*.
// Writes: underlay headers; removes the SRH. The UDP checksum and the length are the shell's.
// When:   on the egress copy of a packet that met a congested queue.
control FastCnp(inout p_headers_t hdr, inout meta_t meta) {
    // Fields side by side in one octet that have different sources take an action each (Tofino).
    action start_word() {
        hdr.fast_cnp.setValid();
        hdr.fast_cnp.word = 0;
    }
    action set_word_label() {
        hdr.fast_cnp.word[31:12] = hdr.outer_ipv6.flow_label;
    }
    action set_word_level() {
        hdr.fast_cnp.word[11:9] = meta.copy_level;
    }
    action turn_around() {
        hdr.outer_ipv6.dst = hdr.outer_ipv6.src;
        hdr.outer_ipv6.src = meta.fast_cnp_src;
    }
    // A notification is never ECN-capable, so no node takes it for a congested flow.
    action clear_ecn() {
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
    }
    action set_dscp() {
        hdr.outer_ipv6.dscp = meta.fast_cnp_traffic_class[7:2];
    }
    action clear_label() {
        hdr.outer_ipv6.flow_label = 0;
    }
    action to_udp() {
        hdr.outer_ipv6.payload_len = FAST_CNP_UDP_LENGTH;
        hdr.outer_ipv6.next_header = IpProtocol.UDP;
        hdr.outer_ipv6.hop_limit = meta.fast_cnp_hop_limit;
        hdr.outer_udp.setValid();
        hdr.outer_udp.src_port = meta.fast_cnp_udp_src_port;
        hdr.outer_udp.dst_port = meta.fast_cnp_udp_dst_port;
        hdr.outer_udp.length = FAST_CNP_UDP_LENGTH;
        hdr.outer_udp.checksum = 0;
    }

    apply {
        hdr.srh.setInvalid();
        hdr.segment0.setInvalid();
        hdr.segment1.setInvalid();
        hdr.segment2.setInvalid();
        hdr.segment3.setInvalid();
        hdr.icmpv6.setInvalid();

        start_word();
        set_word_label();
        set_word_level();
        turn_around();
        to_udp();
        clear_ecn();
        set_dscp();
        if (meta.fast_cnp_copy_label == 0) {
            clear_label();
        }
    }
}

#endif
