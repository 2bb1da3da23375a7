#ifndef FCN_FAST_CNP_P4
#define FCN_FAST_CNP_P4

#include "../base/p_headers.p4"
#include "../base/p_metadata.p4"
#include "../base/sizes.p4"

// FastCnp: turns the copy of a congested packet into a Fast CNP (FCN-9, FCN-10).
// Reads:  outer source and flow label of the packet; meta.base.copy_level, hdr.fast_cnp_profile.
// Writes: underlay headers; removes the SRH. The UDP checksum and the length are the
//         top-level control's.
// When:   on the egress copy of a packet that met a congested queue.
control FastCnp(inout p_headers_t hdr, in p_meta_t meta) {
    // Fields of one octet that have different sources take an action each (Tofino).
    action start_word() {
        hdr.fast_cnp.setValid();
        hdr.fast_cnp.word = 0;
    }
    action set_word_label() {
        hdr.fast_cnp.word[31:12] = hdr.outer_ipv6.flow_label;
    }
    action set_word_level() {
        hdr.fast_cnp.word[11:9] = meta.base.copy_level;
    }
    action turn_around() {
        hdr.outer_ipv6.dst = hdr.outer_ipv6.src;
        hdr.outer_ipv6.src = hdr.fast_cnp_profile.src;
    }
    // A notification is never ECN-capable, so no node takes it for a congested flow.
    action clear_ecn() {
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
    }
    action set_dscp() {
        hdr.outer_ipv6.dscp = hdr.fast_cnp_profile.traffic_class[7:2];
    }
    action clear_label() {
        hdr.outer_ipv6.flow_label = 0;
    }
    action to_udp() {
        hdr.outer_ipv6.payload_len = FAST_CNP_UDP_LENGTH;
        hdr.outer_ipv6.next_header = IpProtocol.UDP;
        hdr.outer_ipv6.hop_limit = hdr.fast_cnp_profile.hop_limit;
        hdr.tunnel.udp.setValid();
        hdr.tunnel.udp.src_port = hdr.fast_cnp_profile.udp_src_port;
        hdr.tunnel.udp.dst_port = hdr.fast_cnp_profile.udp_dst_port;
        hdr.tunnel.udp.length = FAST_CNP_UDP_LENGTH;
        hdr.tunnel.udp.checksum = 0;
    }

    apply {
        REMOVE_SRH(hdr.srv6)

        start_word();
        set_word_label();
        set_word_level();
        turn_around();
        to_udp();
        clear_ecn();
        set_dscp();
        if (hdr.fast_cnp_profile.copy_label == 0) {
            clear_label();
        }
    }
}

#endif
