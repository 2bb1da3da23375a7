// Ingress parser and deparser of the provider edge.
#ifndef FCN_PE_PARSER_P4
#define FCN_PE_PARSER_P4

// The one word of a Fast CNP's pseudo-header the parser cannot sum up, the protocol: what is left when
// everything else has been subtracted from a right checksum.
const bit<16> UDP_PROTOCOL = 17;

// How the messages of the connection manager go on behind their IDs, up to the QPN.
header cm_req_peek_h {
    bit<192> skipped;
    qpn_t local_qpn;
}
header cm_rep_peek_h {
    bit<32> skipped;
    qpn_t local_qpn;
}

parser PeIngressParser(
        packet_in packet,
        out pe_pass_headers_t hdr,
        out tna_meta_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    // Ports of the WAN: everything IPv6 behind them is the underlay's. Behind any other port it is the
    // customer's. The controller fills it from the same configuration as port_role.
    @name(".core_ports")
    value_set<port_t>(32) core_ports;
    Checksum() options_checksum;
    Checksum() fast_cnp_checksum;

    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        md.meta.ingress_port = ig_intr_md.ingress_port;
        transition select(ig_intr_md.ingress_port) {
            CPU_PORT: parse_packet_out;
            RECIRC_PORT: parse_copy;
            core_ports: parse_core_ethernet;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.pe.packet_out);
        transition accept;
    }

    // Second pass of a node's own congestion. The mirror session cuts the copy behind the Ethernet
    // header.
    state parse_copy {
        packet.extract(hdr.copy);
        packet.extract(hdr.pe.ethernet);
        md.meta.copy = Copy.OWN_CONGESTION;
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.pe.ethernet);
        transition select(hdr.pe.ethernet.ether_type) {
            EtherType.VLAN: parse_vlan;
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_customer_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }
    state parse_vlan {
        packet.extract(hdr.pe.vlan);
        md.meta.vlan_id = hdr.pe.vlan.vlan_id;
        transition select(hdr.pe.vlan.ether_type) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_customer_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }

    state parse_core_ethernet {
        packet.extract(hdr.pe.ethernet);
        transition select(hdr.pe.ethernet.ether_type) {
            EtherType.VLAN: parse_core_vlan;
            EtherType.IPV6: parse_outer_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }
    state parse_core_vlan {
        packet.extract(hdr.pe.vlan);
        md.meta.vlan_id = hdr.pe.vlan.vlan_id;
        transition select(hdr.pe.vlan.ether_type) {
            EtherType.IPV6: parse_outer_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }

    state parse_arp {
        md.meta.is_arp = true;
        transition accept;
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.pe.outer_ipv6);
        fast_cnp_checksum.subtract({
            hdr.pe.outer_ipv6.payload_len, hdr.pe.outer_ipv6.src, hdr.pe.outer_ipv6.dst });
        transition select(hdr.pe.outer_ipv6.version, hdr.pe.outer_ipv6.next_header) {
            (6, IpProtocol.IPV4): parse_ipv4;
            (6, IpProtocol.IPV6): parse_ipv6;
            (6, IpProtocol.ROUTING): parse_srh;
            (6, IpProtocol.GRE): parse_gre;
            (6, IpProtocol.UDP): choose_outer_udp;
            (6, IpProtocol.ICMPV6): parse_outer_icmpv6;
            (6, _): accept;
            default: bad_version;
        }
    }
    state bad_version {
        md.meta.bad_version = true;
        transition accept;
    }

    state parse_outer_icmpv6 {
        transition select(packet.lookahead<bit<8>>(), hdr.pe.outer_ipv6.hop_limit) {
            (133, 255): neighbor_discovery;
            (134 &&& 0xfe, 255): neighbor_discovery;
            (136 &&& 0xfe, 255): neighbor_discovery;
            default: accept;
        }
    }

    // Up to four segments and no TLV; another SRH stays payload, which transit does not need.
    state parse_srh {
        packet.extract(hdr.pe.srh);
        transition select(
                hdr.pe.srh.routing_type, hdr.pe.srh.hdr_ext_len, hdr.pe.srh.last_entry) {
            (4, 2, 0): parse_one_segment;
            (4, 4, 1): parse_two_segments;
            (4, 6, 2): parse_three_segments;
            (4, 8, 3): parse_four_segments;
            default: accept;
        }
    }
    state parse_one_segment {
        packet.extract(hdr.pe.segment0);
        transition parse_behind_srh;
    }
    state parse_two_segments {
        packet.extract(hdr.pe.segment0);
        packet.extract(hdr.pe.segment1);
        transition parse_behind_srh;
    }
    state parse_three_segments {
        packet.extract(hdr.pe.segment0);
        packet.extract(hdr.pe.segment1);
        packet.extract(hdr.pe.segment2);
        transition parse_behind_srh;
    }
    state parse_four_segments {
        packet.extract(hdr.pe.segment0);
        packet.extract(hdr.pe.segment1);
        packet.extract(hdr.pe.segment2);
        packet.extract(hdr.pe.segment3);
        transition parse_behind_srh;
    }
    state parse_behind_srh {
        transition select(hdr.pe.srh.next_header) {
            IpProtocol.IPV4: parse_ipv4;
            IpProtocol.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_gre {
        packet.extract(hdr.pe.gre);
        md.meta.tunnel_type = TunnelType.GRE;
        transition select(hdr.pe.gre.flags) {
            0x0000: parse_behind_gre;
            0x2000: parse_gre_key;
            default: unsupported_tunnel;
        }
    }
    state parse_gre_key {
        packet.extract(hdr.pe.gre_key);
        md.meta.tunnel_id = hdr.pe.gre_key.key;
        transition parse_behind_gre;
    }
    state parse_behind_gre {
        transition select(hdr.pe.gre.protocol) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state choose_outer_udp {
        transition select(
                packet.lookahead<udp_h>().dst_port, packet.lookahead<udp_h>().length) {
            (UdpPort.VXLAN, _): parse_outer_udp_vxlan;
            (UdpPort.MPLS, _): parse_outer_udp_mpls;
            (_, FAST_CNP_UDP_LENGTH): parse_fast_cnp;
            default: parse_outer_udp;
        }
    }
    state parse_outer_udp {
        md.meta.udp_dst_port = packet.lookahead<udp_h>().dst_port;
        transition accept;
    }

    // The port of Fast CNPs is configuration, so any datagram of their length may be one.
    state parse_fast_cnp {
        packet.extract(hdr.pe.outer_udp);
        packet.extract(hdr.pe.fast_cnp);
        md.meta.udp_dst_port = hdr.pe.outer_udp.dst_port;
        fast_cnp_checksum.subtract({ hdr.pe.outer_udp, hdr.pe.fast_cnp });
        md.fast_cnp_sum = fast_cnp_checksum.get();
        transition accept;
    }

    state parse_outer_udp_vxlan {
        packet.extract(hdr.pe.outer_udp);
        packet.extract(hdr.pe.vxlan);
        md.meta.tunnel_type = TunnelType.VXLAN;
        md.meta.tunnel_id = 8w0 ++ hdr.pe.vxlan.vni;
        transition select(hdr.pe.vxlan.flags) {
            0x08 &&& 0x08: parse_inner_ethernet;
            default: unsupported_tunnel;
        }
    }
    state parse_inner_ethernet {
        packet.extract(hdr.pe.inner_ethernet);
        transition select(hdr.pe.inner_ethernet.ether_type) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_outer_udp_mpls {
        packet.extract(hdr.pe.outer_udp);
        packet.extract(hdr.pe.mpls0);
        md.meta.tunnel_type = TunnelType.MPLS_UDP;
        transition select(hdr.pe.mpls0.bottom_of_stack) {
            1: parse_behind_mpls;
            default: parse_second_mpls;
        }
    }
    state parse_second_mpls {
        packet.extract(hdr.pe.mpls1);
        transition select(hdr.pe.mpls1.bottom_of_stack) {
            1: parse_behind_mpls;
            default: unsupported_tunnel;
        }
    }
    state parse_behind_mpls {
        transition select(packet.lookahead<bit<4>>()) {
            4: parse_ipv4;
            6: parse_ipv6;
            default: accept;
        }
    }

    state unsupported_tunnel {
        md.meta.unsupported_tunnel = true;
        transition accept;
    }
    state malformed {
        md.meta.parse_failed = true;
        transition accept;
    }

    // What the whole header sums up to is 0 if its checksum is right, but for what options add.
    state parse_ipv4 {
        packet.extract(hdr.pe.ipv4);
        options_checksum.subtract({ hdr.pe.ipv4 });
        md.ipv4_options_sum = options_checksum.get();
        // One select of four octets: a header that is left before its end cannot be summed up. A
        // fragment goes its way unexamined; RoCEv2 has none.
        transition select(
                hdr.pe.ipv4.version, hdr.pe.ipv4.ihl, hdr.pe.ipv4.flags, hdr.pe.ipv4.frag_offset,
                hdr.pe.ipv4.protocol) {
            (4, 5, 0 &&& 1, 0, IpProtocol.UDP): parse_udp;
            (4, 0 &&& 0xc, _, _, _): malformed;
            (4, 4, _, _, _): malformed;
            (4, _, _, _, _): accept;
            default: malformed;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.pe.ipv6);
        transition select(hdr.pe.ipv6.version, hdr.pe.ipv6.next_header) {
            (6, IpProtocol.UDP): parse_udp;
            (6, _): accept;
            default: malformed;
        }
    }

    // Straight from a customer: it may be a notification, which must not come from there, or concern
    // this node's own neighbours.
    state parse_customer_ipv6 {
        packet.extract(hdr.pe.ipv6);
        transition select(hdr.pe.ipv6.version, hdr.pe.ipv6.next_header) {
            (6, IpProtocol.UDP): parse_customer_udp;
            (6, IpProtocol.ICMPV6): parse_icmpv6;
            (6, _): accept;
            default: malformed;
        }
    }
    state parse_customer_udp {
        md.meta.udp_dst_port = packet.lookahead<udp_h>().dst_port;
        transition parse_udp;
    }
    state parse_icmpv6 {
        transition select(packet.lookahead<bit<8>>(), hdr.pe.ipv6.hop_limit) {
            (133, 255): neighbor_discovery;
            (134 &&& 0xfe, 255): neighbor_discovery;
            (136 &&& 0xfe, 255): neighbor_discovery;
            default: accept;
        }
    }
    state neighbor_discovery {
        md.meta.is_nd = true;
        transition accept;
    }

    state parse_udp {
        md.ports = packet.lookahead<bit<32>>();
        packet.extract(hdr.pe.udp);
        transition select(hdr.pe.udp.dst_port) {
            UdpPort.ROCEV2: parse_bth;
            default: accept;
        }
    }

    state parse_bth {
        packet.extract(hdr.pe.bth);
        transition select(hdr.pe.bth.opcode, hdr.pe.bth.dest_qp) {
            (BthOpcode.UD_SEND_ONLY, QP1): parse_deth;
            default: accept;
        }
    }
    state parse_deth {
        packet.extract(hdr.pe.deth);
        packet.extract(hdr.pe.mad);
        md.cm.attribute = hdr.pe.mad.attribute;
        transition select(hdr.pe.mad.mgmt_class, hdr.pe.mad.attribute) {
            (MAD_CLASS_CM, CmAttribute.REQ): parse_cm_req;
            (MAD_CLASS_CM, CmAttribute.REP): parse_cm_rep;
            (MAD_CLASS_CM, CmAttribute.DREQ): parse_cm_dreq;
            (MAD_CLASS_CM, _): parse_cm_other;
            default: accept;
        }
    }
    state parse_cm_req {
        packet.extract(hdr.pe.cm_ids);
        md.cm.is_valid = true;
        md.cm.local_comm_id = hdr.pe.cm_ids.local_comm_id;
        md.cm.qpn = packet.lookahead<cm_req_peek_h>().local_qpn;
        transition accept;
    }
    state parse_cm_rep {
        packet.extract(hdr.pe.cm_ids);
        md.cm.is_valid = true;
        md.cm.local_comm_id = hdr.pe.cm_ids.local_comm_id;
        md.cm.remote_comm_id = hdr.pe.cm_ids.remote_comm_id;
        md.cm.qpn = packet.lookahead<cm_rep_peek_h>().local_qpn;
        transition accept;
    }
    state parse_cm_dreq {
        packet.extract(hdr.pe.cm_ids);
        md.cm.is_valid = true;
        md.cm.local_comm_id = hdr.pe.cm_ids.local_comm_id;
        md.cm.remote_comm_id = hdr.pe.cm_ids.remote_comm_id;
        md.cm.qpn = packet.lookahead<bit<24>>();
        transition accept;
    }
    state parse_cm_other {
        packet.extract(hdr.pe.cm_ids);
        md.cm.is_valid = true;
        md.cm.local_comm_id = hdr.pe.cm_ids.local_comm_id;
        md.cm.remote_comm_id = hdr.pe.cm_ids.remote_comm_id;
        transition accept;
    }
}

control PeIngressDeparser(
        packet_out packet,
        inout pe_pass_headers_t hdr,
        in tna_meta_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    @name(".new_flow_ipv4_t")
    Digest<new_flow_ipv4_t>(DIGEST_NEW_FLOW_IPV4) new_flow_ipv4;
    @name(".new_flow_ipv6_t")
    Digest<new_flow_ipv6_t>(DIGEST_NEW_FLOW_IPV6) new_flow_ipv6;
    @name(".cm_ipv4_t")
    Digest<cm_ipv4_t>(DIGEST_CM_IPV4) cm_ipv4;
    @name(".cm_ipv6_t")
    Digest<cm_ipv6_t>(DIGEST_CM_IPV6) cm_ipv6;
    Checksum() ipv4_checksum;
    Checksum() cnp_checksum;

    apply {
        if (ig_dprsr_md.digest_type == DIGEST_NEW_FLOW_IPV4) {
            new_flow_ipv4.pack({
                md.meta.vrf, hdr.pe.ipv4.src, hdr.pe.ipv4.dst, hdr.pe.bth.dest_qp,
                hdr.pe.bth.p_key, hdr.pe.bth.psn, hdr.pe.udp.src_port, hdr.pe.bth.opcode });
        }
        if (ig_dprsr_md.digest_type == DIGEST_NEW_FLOW_IPV6) {
            new_flow_ipv6.pack({
                md.meta.vrf, hdr.pe.ipv6.src, hdr.pe.ipv6.dst, hdr.pe.bth.dest_qp,
                hdr.pe.bth.p_key, hdr.pe.bth.psn, hdr.pe.udp.src_port, hdr.pe.bth.opcode });
        }
        if (ig_dprsr_md.digest_type == DIGEST_CM_IPV4) {
            cm_ipv4.pack({
                md.meta.vrf, hdr.pe.ipv4.src, hdr.pe.ipv4.dst, md.cm.attribute,
                md.cm.local_comm_id, md.cm.remote_comm_id, md.cm.qpn });
        }
        if (ig_dprsr_md.digest_type == DIGEST_CM_IPV6) {
            cm_ipv6.pack({
                md.meta.vrf, hdr.pe.ipv6.src, hdr.pe.ipv6.dst, md.cm.attribute,
                md.cm.local_comm_id, md.cm.remote_comm_id, md.cm.qpn });
        }

        // Options are not parsed; their sum stands for them.
        hdr.pe.ipv4.checksum = ipv4_checksum.update({
            hdr.pe.ipv4.version, hdr.pe.ipv4.ihl, hdr.pe.ipv4.dscp, hdr.pe.ipv4.ecn,
            hdr.pe.ipv4.total_len, hdr.pe.ipv4.identification, hdr.pe.ipv4.flags,
            hdr.pe.ipv4.frag_offset, hdr.pe.ipv4.ttl, hdr.pe.ipv4.protocol, hdr.pe.ipv4.src,
            hdr.pe.ipv4.dst, md.ipv4_options_sum });
        if (md.is_cnp_ipv6) {
            hdr.pe.udp.checksum = cnp_checksum.update({
                hdr.pe.ipv6.src, hdr.pe.ipv6.dst, hdr.pe.udp.length, 8w0,
                hdr.pe.ipv6.next_header, hdr.pe.udp.src_port, hdr.pe.udp.dst_port,
                hdr.pe.udp.length, hdr.pe.bth.opcode, hdr.pe.bth.se_m_pad_tver,
                hdr.pe.bth.p_key, hdr.pe.bth.fecn_becn, hdr.pe.bth.dest_qp,
                hdr.pe.bth.ack_req, hdr.pe.bth.psn, hdr.pe.icrc.value }, true);
        }

        packet.emit(hdr.bridge);
        packet.emit(hdr.pe.packet_in);
        packet.emit(hdr.pe.ethernet);
        packet.emit(hdr.pe.vlan);
        packet.emit(hdr.pe.outer_ipv6);
        packet.emit(hdr.pe.srh);
        packet.emit(hdr.pe.segment0);
        packet.emit(hdr.pe.segment1);
        packet.emit(hdr.pe.segment2);
        packet.emit(hdr.pe.segment3);
        packet.emit(hdr.pe.gre);
        packet.emit(hdr.pe.gre_key);
        packet.emit(hdr.pe.outer_udp);
        packet.emit(hdr.pe.vxlan);
        packet.emit(hdr.pe.mpls0);
        packet.emit(hdr.pe.mpls1);
        packet.emit(hdr.pe.inner_ethernet);
        packet.emit(hdr.pe.ipv4);
        packet.emit(hdr.pe.ipv6);
        packet.emit(hdr.pe.udp);
        packet.emit(hdr.pe.fast_cnp);
        packet.emit(hdr.pe.bth);
        packet.emit(hdr.pe.cnp_payload);
        packet.emit(hdr.pe.icrc);
        packet.emit(hdr.pe.deth);
        packet.emit(hdr.pe.mad);
        packet.emit(hdr.pe.cm_ids);
    }
}

#endif
