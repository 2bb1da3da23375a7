#ifndef FCN_CNP_GENERATOR_P4
#define FCN_CNP_GENERATOR_P4

// CnpGenerator: turns the packet at hand into a standard CNP (FCN-13; IBTA annex A17.9.3).
// Reads:  meta.cnp_*; what FlowByLabel wrote into the headers.
// Writes: every header; meta.frame_length, meta.customer_*; the ICRC and the checksums are the
//         shell's.
// When:   FlowByLabel found the sender and both rate limits let the notification pass.
control CnpGenerator(inout pe_headers_t hdr, inout meta_t meta) {
    apply {
        hdr.vlan.setInvalid();
        hdr.outer_ipv6.setInvalid();
        hdr.srh.setInvalid();
        hdr.segment0.setInvalid();
        hdr.segment1.setInvalid();
        hdr.segment2.setInvalid();
        hdr.segment3.setInvalid();
        hdr.gre.setInvalid();
        hdr.gre_key.setInvalid();
        hdr.outer_udp.setInvalid();
        hdr.vxlan.setInvalid();
        hdr.mpls0.setInvalid();
        hdr.mpls1.setInvalid();
        hdr.inner_ethernet.setInvalid();
        hdr.fast_cnp.setInvalid();
        hdr.deth.setInvalid();
        hdr.mad.setInvalid();
        hdr.cm_ids.setInvalid();
        hdr.cm_req.setInvalid();
        hdr.cm_rep.setInvalid();
        hdr.cm_dreq.setInvalid();

        if (meta.cnp_is_ipv4) {
            meta.frame_length = CNP_IPV4_FRAME_LENGTH;
            hdr.ethernet.ether_type = EtherType.IPV4;
            hdr.ipv6.setInvalid();
            hdr.ipv4.version = 4;
            hdr.ipv4.ihl = 5;
            hdr.ipv4.dscp = meta.cnp_traffic_class[7:2];
            hdr.ipv4.ecn = meta.cnp_traffic_class[1:0];
            hdr.ipv4.total_len = CNP_IPV4_TOTAL_LENGTH;
            hdr.ipv4.identification = meta.cnp_ipv4_id;
            hdr.ipv4.flags = 2; // DF
            hdr.ipv4.frag_offset = 0;
            hdr.ipv4.ttl = meta.cnp_ttl;
            hdr.ipv4.protocol = IpProtocol.UDP;
            hdr.ipv4.checksum = 0;
            meta.customer_length = CNP_IPV4_TOTAL_LENGTH;
            meta.customer_next_header = IpProtocol.IPV4;
        } else {
            meta.frame_length = CNP_IPV6_FRAME_LENGTH;
            hdr.ethernet.ether_type = EtherType.IPV6;
            hdr.ipv4.setInvalid();
            hdr.ipv6.version = 6;
            hdr.ipv6.dscp = meta.cnp_traffic_class[7:2];
            hdr.ipv6.ecn = meta.cnp_traffic_class[1:0];
            hdr.ipv6.flow_label = 0;
            hdr.ipv6.payload_len = CNP_UDP_LENGTH;
            hdr.ipv6.next_header = IpProtocol.UDP;
            hdr.ipv6.hop_limit = meta.cnp_ttl;
            meta.customer_length = CNP_UDP_LENGTH + 40;
            meta.customer_next_header = IpProtocol.IPV6;
        }

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

        meta.make_cnp = true;
        meta.customer_ecn = (Ecn)meta.cnp_traffic_class[1:0];
        meta.is_roce_flow = false;
        meta.forward = Forward.VRF;
    }
}

#endif
