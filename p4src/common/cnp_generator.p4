#ifndef FCN_CNP_GENERATOR_P4
#define FCN_CNP_GENERATOR_P4

// CnpGenerator: turns the packet at hand into a standard CNP (FCN-13; IBTA annex A17.9.3).
// Reads:  meta.cnp_*; what FlowByLabel wrote into the headers.
// Writes: every other header; meta.frame_length, meta.customer_*; the ICRC and the checksums are the
//         shell's.
// When:   meta.make_cnp: FlowByLabel has found the sender and TunnelDecap taken the underlay off.
control CnpGenerator(inout pe_headers_t hdr, inout meta_t meta) {
    action remove_headers() {
        hdr.vlan.setInvalid();
        hdr.fast_cnp.setInvalid();
        hdr.deth.setInvalid();
        hdr.mad.setInvalid();
        hdr.cm_ids.setInvalid();
        hdr.cm_req.setInvalid();
        hdr.cm_rep.setInvalid();
        hdr.cm_dreq.setInvalid();
    }

    // What is the same in every CNP and what the profile says are an action each: fields side by side
    // in one octet cannot have two sources (Tofino).
    action build_ipv4() {
        meta.frame_length = CNP_IPV4_FRAME_LENGTH;
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
        hdr.ipv4.dscp = meta.cnp_traffic_class[7:2];
        hdr.ipv4.identification = meta.cnp_ipv4_id;
        hdr.ipv4.ttl = meta.cnp_ttl;
    }
    action build_ipv6() {
        meta.frame_length = CNP_IPV6_FRAME_LENGTH;
        hdr.ipv6.version = 6;
        hdr.ipv6.flow_label = 0;
        hdr.ipv6.payload_len = CNP_UDP_LENGTH;
        hdr.ipv6.next_header = IpProtocol.UDP;
        meta.customer_length = CNP_UDP_LENGTH + 40;
        meta.customer_next_header = IpProtocol.IPV6;
    }
    action profile_ipv6() {
        hdr.ipv6.dscp = meta.cnp_traffic_class[7:2];
        hdr.ipv6.hop_limit = meta.cnp_ttl;
    }

    action build_datagram() {
        hdr.udp.setValid();
        hdr.udp.src_port = meta.cnp_udp_src_port;
        hdr.udp.dst_port = UdpPort.ROCEV2;
        hdr.udp.length = CNP_UDP_LENGTH;
        hdr.udp.checksum = 0;

        hdr.bth.opcode = BthOpcode.CNP;
        hdr.bth.se_m_pad_tver = 0;
        hdr.bth.fecn_becn = 0x40; // BECN, as real NICs send it
        hdr.bth.ack_req = 0;
        hdr.bth.psn = 0;

        hdr.cnp_payload.setValid();
        hdr.cnp_payload.reserved = 0;
        hdr.icrc.setValid();
    }
    action ecn_ipv4() {
        hdr.ipv4.ecn = meta.cnp_traffic_class[1:0];
        meta.customer_ecn = (Ecn)meta.cnp_traffic_class[1:0];
    }
    action ecn_ipv6() {
        hdr.ipv6.ecn = meta.cnp_traffic_class[1:0];
        meta.customer_ecn = (Ecn)meta.cnp_traffic_class[1:0];
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
