#ifndef FCN_CNP_GENERATOR_P4
#define FCN_CNP_GENERATOR_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// CnpGenerator: turns the packet at hand into a standard CNP (FCN-13; IBTA annex A17.9.3).
// Reads:  hdr.cnp_profile; what FlowByLabel wrote into the headers.
// Writes: every other header; meta.customer_*. The ICRC and the checksums are the
//         top-level control's.
// When:   meta.make_cnp: FlowByLabel has found the sender and TunnelDecap taken the underlay off.
control CnpGenerator(inout pe_headers_t hdr, inout pe_meta_t meta) {
    action remove_headers() {
        hdr.vlan.setInvalid();
        hdr.fast_cnp.setInvalid();
        hdr.roce.deth.setInvalid();
        hdr.roce.mad.setInvalid();
        hdr.roce.cm_ids.setInvalid();
    }

    // What is the same in every CNP and what the profile says are an action each: neighbouring fields
    // in one octet cannot have two sources (Tofino).
    action build_ipv4() {
        hdr.ipv4.version = 4;
        hdr.ipv4.ihl = 5;
        hdr.ipv4.total_len = CNP_IPV4_TOTAL_LENGTH;
        hdr.ipv4.flags = 2; // DF
        hdr.ipv4.frag_offset = 0;
        hdr.ipv4.protocol = IpProtocol.UDP;
        hdr.ipv4.checksum = 0;
        meta.customer_length = CNP_IPV4_TOTAL_LENGTH;
        meta.customer_next_header = IpProtocol.IPV4;
    }
    action profile_ipv4() {
        hdr.ipv4.dscp = hdr.cnp_profile.traffic_class[7:2];
        hdr.ipv4.identification = hdr.cnp_profile.ipv4_id;
        hdr.ipv4.ttl = hdr.cnp_profile.ttl;
    }
    action build_ipv6() {
        hdr.ipv6.version = 6;
        hdr.ipv6.flow_label = 0;
        hdr.ipv6.payload_len = CNP_UDP_LENGTH;
        hdr.ipv6.next_header = IpProtocol.UDP;
        meta.customer_length = CNP_UDP_LENGTH + IPV6_LENGTH;
        meta.customer_next_header = IpProtocol.IPV6;
    }
    action profile_ipv6() {
        hdr.ipv6.dscp = hdr.cnp_profile.traffic_class[7:2];
        hdr.ipv6.hop_limit = hdr.cnp_profile.ttl;
    }

    action build_datagram() {
        hdr.udp.setValid();
        hdr.udp.src_port = hdr.cnp_profile.udp_src_port;
        hdr.udp.dst_port = UdpPort.ROCEV2;
        hdr.udp.length = CNP_UDP_LENGTH;
        hdr.udp.checksum = 0;

        SET_CNP_BTH(hdr.roce.bth)

        hdr.roce.cnp_payload.setValid();
        hdr.roce.cnp_payload.reserved = 0;
    }
    action ecn_ipv4() {
        hdr.ipv4.ecn = hdr.cnp_profile.traffic_class[1:0];
        meta.customer_ecn = (Ecn)hdr.cnp_profile.traffic_class[1:0];
    }
    action ecn_ipv6() {
        hdr.ipv6.ecn = hdr.cnp_profile.traffic_class[1:0];
        meta.customer_ecn = (Ecn)hdr.cnp_profile.traffic_class[1:0];
    }

    // Step by step rather than all in one branch: Tofino interleaves steps with what else there is to do,
    // not branches.
    apply {
        if (meta.make_cnp) {
            remove_headers();
            build_datagram();
        }
        if (meta.make_cnp) {
            if (meta.cnp_is_ipv4) {
                build_ipv4();
            } else {
                build_ipv6();
            }
        }
        if (meta.make_cnp) {
            if (meta.cnp_is_ipv4) {
                profile_ipv4();
            } else {
                profile_ipv6();
            }
        }
        if (meta.make_cnp) {
            if (meta.cnp_is_ipv4) {
                ecn_ipv4();
            } else {
                ecn_ipv6();
            }
        }
    }
}

#endif
