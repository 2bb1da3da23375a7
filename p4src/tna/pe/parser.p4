// Ingress parser and deparser of the provider edge.
#ifndef FCN_PE_PARSER_P4
#define FCN_PE_PARSER_P4

parser PeIngressParser(
        packet_in packet,
        out pe_pass_headers_t hdr,
        out tna_pe_meta_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    // Ports of the WAN: everything IPv6 behind them is the underlay's. Behind any other port it is the
    // customer's. The controller fills it from the same configuration as port_role.
    @name(".core_ports")
    value_set<port_t>(32) core_ports;
    Checksum() ipv4_checksum;
    Checksum() options_checksum;
    Checksum() fast_cnp_checksum;
    Checksum() solicitation_checksum;
    SrhParser() srh_parser;
    GreParser() gre_parser;
    VxlanParser() vxlan_parser;
    MplsParser() mpls_parser;
    NeighborDiscoveryParser() underlay_discovery_parser;
    NeighborDiscoveryParser() customer_discovery_parser;
    ArpRequestParser() arp_request_parser;
    RoceParser() roce_parser;

    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        md.meta.base.ingress_port = ig_intr_md.ingress_port;
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
        md.meta.base.copy_kind = NotificationKind.CNP;
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.pe.ethernet);
        transition select(hdr.pe.ethernet.ether_type) {
            EtherType.VLAN: parse_vlan;
            EtherType.IPV4: choose_ipv4;
            EtherType.IPV6: parse_customer_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }
    state parse_vlan {
        packet.extract(hdr.pe.vlan);
        md.meta.base.vlan_id = hdr.pe.vlan.vlan_id;
        transition select(hdr.pe.vlan.ether_type) {
            EtherType.IPV4: choose_ipv4;
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
        md.meta.base.vlan_id = hdr.pe.vlan.vlan_id;
        transition select(hdr.pe.vlan.ether_type) {
            EtherType.IPV6: parse_outer_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }

    state parse_arp {
        md.meta.base.is_arp = true;
        arp_request_parser.apply(packet, hdr.pe.neighbor);
        transition accept;
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.pe.outer_ipv6);
        fast_cnp_checksum.subtract({
            hdr.pe.outer_ipv6.payload_len, hdr.pe.outer_ipv6.src, hdr.pe.outer_ipv6.dst });
        transition select(hdr.pe.outer_ipv6.version, hdr.pe.outer_ipv6.next_header) {
            (6, IpProtocol.IPV4): choose_ipv4;
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
        md.meta.base.is_malformed = true;
        transition accept;
    }

    state parse_outer_icmpv6 {
        underlay_discovery_parser.apply(packet, hdr.pe.outer_ipv6, md.meta.base.is_nd);
        transition accept;
    }

    // What is behind an SRH of another shape is not parsed.
    state parse_srh {
        srh_parser.apply(packet, hdr.pe.srv6);
        transition select(
                hdr.pe.srv6.srh.routing_type, hdr.pe.srv6.srh.hdr_ext_len,
                hdr.pe.srv6.srh.last_entry, hdr.pe.srv6.srh.next_header) {
            (4, 2, 0, IpProtocol.IPV4): choose_ipv4;
            (4, 4, 1, IpProtocol.IPV4): choose_ipv4;
            (4, 6, 2, IpProtocol.IPV4): choose_ipv4;
            (4, 8, 3, IpProtocol.IPV4): choose_ipv4;
            (4, 2, 0, IpProtocol.IPV6): parse_ipv6;
            (4, 4, 1, IpProtocol.IPV6): parse_ipv6;
            (4, 6, 2, IpProtocol.IPV6): parse_ipv6;
            (4, 8, 3, IpProtocol.IPV6): parse_ipv6;
            default: accept;
        }
    }

    state parse_gre {
        md.meta.tunnel_type = TunnelType.GRE;
        gre_parser.apply(
            packet, hdr.pe.tunnel, md.meta.tunnel_id, md.meta.unsupported_tunnel);
        transition select(hdr.pe.tunnel.gre.protocol) {
            EtherType.IPV4: choose_ipv4;
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
        md.udp_dst_port = packet.lookahead<udp_h>().dst_port;
        transition accept;
    }

    // The port of Fast CNPs is configuration, so any datagram of their length may be one.
    state parse_fast_cnp {
        packet.extract(hdr.pe.tunnel.udp);
        packet.extract(hdr.pe.fast_cnp);
        md.udp_dst_port = hdr.pe.tunnel.udp.dst_port;
        fast_cnp_checksum.subtract({ hdr.pe.tunnel.udp, hdr.pe.fast_cnp });
        md.parser_sum = fast_cnp_checksum.get();
        transition accept;
    }

    state parse_outer_udp_vxlan {
        packet.extract(hdr.pe.tunnel.udp);
        md.meta.tunnel_type = TunnelType.VXLAN;
        vxlan_parser.apply(
            packet, hdr.pe.tunnel, md.meta.tunnel_id, md.meta.unsupported_tunnel);
        transition select(hdr.pe.tunnel.inner_ethernet.ether_type) {
            EtherType.IPV4: choose_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_outer_udp_mpls {
        packet.extract(hdr.pe.tunnel.udp);
        md.meta.tunnel_type = TunnelType.MPLS_UDP;
        mpls_parser.apply(packet, hdr.pe.tunnel, md.meta.unsupported_tunnel);
        transition select(packet.lookahead<bit<4>>()) {
            4: choose_ipv4;
            6: parse_ipv6;
            default: accept;
        }
    }

    state malformed {
        md.meta.parse_failed = true;
        transition accept;
    }

    // The chip adds what it parses behind a header to a sum that is read, but not to one that is only verified. So a
    // header without options is verified, and the sum of one with options, which is the last here, is read.
    state choose_ipv4 {
        transition select(packet.lookahead<bit<8>>()) {
            0x45: parse_ipv4;
            default: parse_ipv4_with_options;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.pe.ipv4);
        ipv4_checksum.add(hdr.pe.ipv4);
        md.meta.ipv4_checksum_failed = ipv4_checksum.verify();
        // A fragment goes its way unexamined; RoCEv2 has none.
        transition select(hdr.pe.ipv4.flags, hdr.pe.ipv4.frag_offset, hdr.pe.ipv4.protocol) {
            (0 &&& 1, 0, IpProtocol.UDP): parse_udp;
            default: accept;
        }
    }
    // What the header sums up to is what the options add, if its checksum is right.
    state parse_ipv4_with_options {
        packet.extract(hdr.pe.ipv4);
        options_checksum.subtract({ hdr.pe.ipv4 });
        md.ipv4_options_sum = options_checksum.get();
        transition select(hdr.pe.ipv4.version, hdr.pe.ipv4.ihl) {
            (4, 0 &&& 0xc): malformed;
            (4, 4): malformed;
            (4, _): accept;
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
        solicitation_checksum.subtract({
            hdr.pe.ipv6.payload_len, hdr.pe.ipv6.src, hdr.pe.ipv6.dst });
        // The version and the upper half of the length are compared behind the parser, which keeps four octets for
        // this select and the next.
        transition select(hdr.pe.ipv6.next_header, hdr.pe.ipv6.payload_len[7:0]) {
            (IpProtocol.UDP, _): parse_customer_udp;
            (IpProtocol.ICMPV6, (bit<8>)SOLICITATION_LENGTH): parse_icmpv6_of_solicitation_length;
            (IpProtocol.ICMPV6, (bit<8>)SOLICITATION_WITH_OPTION_LENGTH):
                parse_icmpv6_of_solicitation_with_option_length;
            (IpProtocol.ICMPV6, _): parse_icmpv6;
            default: accept;
        }
    }
    state parse_customer_udp {
        md.udp_dst_port = packet.lookahead<udp_h>().dst_port;
        transition parse_udp;
    }
    state parse_icmpv6 {
        customer_discovery_parser.apply(packet, hdr.pe.ipv6, md.meta.base.is_nd);
        transition accept;
    }

    // A neighbour solicitation that cannot have crossed a router (RFC 4861 section 7.1.1), with no option or
    // with one: the sender's MAC address, or the nonce of RFC 7527. Another is not extracted and so not
    // answered here. The other types are those of NeighborDiscoveryParser, to which the chip cannot go on from
    // here.
    state parse_icmpv6_of_solicitation_length {
        transition select(packet.lookahead<bit<8>>(), hdr.pe.ipv6.hop_limit) {
            (135, 255): choose_solicitation;
            (133, 255): other_neighbor_discovery;
            (134, 255): other_neighbor_discovery;
            (136 &&& 0xfe, 255): other_neighbor_discovery;
            default: accept;
        }
    }
    state parse_icmpv6_of_solicitation_with_option_length {
        transition select(packet.lookahead<bit<8>>(), hdr.pe.ipv6.hop_limit) {
            (135, 255): choose_solicitation_with_option;
            (133, 255): other_neighbor_discovery;
            (134, 255): other_neighbor_discovery;
            (136 &&& 0xfe, 255): other_neighbor_discovery;
            default: accept;
        }
    }
    state other_neighbor_discovery {
        md.meta.base.is_nd = true;
        transition accept;
    }
    // The code, behind the type
    state choose_solicitation {
        md.meta.base.is_nd = true;
        transition select(packet.lookahead<bit<16>>()[7:0]) {
            0: parse_solicitation;
            default: accept;
        }
    }
    state parse_solicitation {
        packet.extract(hdr.pe.neighbor.nd);
        solicitation_checksum.subtract({ hdr.pe.neighbor.nd });
        md.parser_sum = solicitation_checksum.get();
        transition accept;
    }
    // Likewise; type and length of the option are behind the 24 octets of the solicitation.
    state choose_solicitation_with_option {
        md.meta.base.is_nd = true;
        transition select(
                packet.lookahead<bit<16>>()[7:0], packet.lookahead<bit<208>>()[15:0]) {
            (0, 0x0101): parse_solicitation_with_option;
            (0, 0x0e01): parse_solicitation_with_option;
            default: accept;
        }
    }
    state parse_solicitation_with_option {
        packet.extract(hdr.pe.neighbor.nd);
        packet.extract(hdr.pe.neighbor.nd_option);
        solicitation_checksum.subtract({ hdr.pe.neighbor.nd, hdr.pe.neighbor.nd_option });
        md.parser_sum = solicitation_checksum.get();
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
        roce_parser.apply(packet, hdr.pe.roce, md.meta.cm);
        transition accept;
    }
}

control PeIngressDeparser(
        packet_out packet,
        inout pe_pass_headers_t hdr,
        in tna_pe_meta_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    @name(".new_flow_ipv4_t")
    Digest<new_flow_ipv4_t>(DIGEST_NEW_FLOW_IPV4) new_flow_ipv4;
    @name(".new_flow_ipv6_t")
    Digest<new_flow_ipv6_t>(DIGEST_NEW_FLOW_IPV6) new_flow_ipv6;
    @name(".cm_ipv4_t")
    Digest<cm_ipv4_t>(DIGEST_CM_IPV4) cm_ipv4;
    @name(".cm_ipv6_t")
    Digest<cm_ipv6_t>(DIGEST_CM_IPV6) cm_ipv6;
    @name(".neighbor_ipv4_t")
    Digest<neighbor_ipv4_t>(DIGEST_NEIGHBOR_IPV4) neighbor_ipv4;
    @name(".neighbor_ipv6_t")
    Digest<neighbor_ipv6_t>(DIGEST_NEIGHBOR_IPV6) neighbor_ipv6;
    Checksum() ipv4_checksum;
    Checksum() cnp_checksum;
    Checksum() advertisement_checksum;

    apply {
        if (ig_dprsr_md.digest_type == DIGEST_NEW_FLOW_IPV4) {
            new_flow_ipv4.pack({
                md.meta.base.vrf, hdr.pe.ipv4.src, hdr.pe.ipv4.dst, hdr.pe.roce.bth.dest_qp,
                hdr.pe.roce.bth.p_key, hdr.pe.roce.bth.psn, hdr.pe.udp.src_port, hdr.pe.roce.bth.opcode,
                md.meta.base.ingress_port });
        }
        if (ig_dprsr_md.digest_type == DIGEST_NEW_FLOW_IPV6) {
            new_flow_ipv6.pack({
                md.meta.base.vrf, hdr.pe.ipv6.src, hdr.pe.ipv6.dst, hdr.pe.roce.bth.dest_qp,
                hdr.pe.roce.bth.p_key, hdr.pe.roce.bth.psn, hdr.pe.udp.src_port, hdr.pe.roce.bth.opcode,
                md.meta.base.ingress_port });
        }
        if (ig_dprsr_md.digest_type == DIGEST_CM_IPV4) {
            cm_ipv4.pack({
                md.meta.base.vrf, hdr.pe.ipv4.src, hdr.pe.ipv4.dst, md.meta.cm.local_comm_id, md.meta.cm.remote_comm_id, md.meta.cm.qpn,
                md.attribute_and_port });
        }
        if (ig_dprsr_md.digest_type == DIGEST_CM_IPV6) {
            cm_ipv6.pack({
                md.meta.base.vrf, hdr.pe.ipv6.src, hdr.pe.ipv6.dst, md.meta.cm.local_comm_id, md.meta.cm.remote_comm_id, md.meta.cm.qpn,
                md.attribute_and_port });
        }

        if (ig_dprsr_md.digest_type == DIGEST_NEIGHBOR_IPV4) {
            neighbor_ipv4.pack({
                md.meta.base.ingress_port, md.meta.base.vlan_id, hdr.pe.neighbor.arp.target,
                hdr.pe.neighbor.arp.target_mac });
        }
        if (ig_dprsr_md.digest_type == DIGEST_NEIGHBOR_IPV6) {
            neighbor_ipv6.pack({
                md.meta.base.ingress_port, md.meta.base.vlan_id, hdr.pe.ipv6.dst,
                hdr.pe.ethernet.dst });
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
                hdr.pe.udp.length, hdr.pe.roce.bth.opcode,
                hdr.pe.roce.bth.solicited_event, hdr.pe.roce.bth.migration_request,
                hdr.pe.roce.bth.pad_count, hdr.pe.roce.bth.transport_version,
                hdr.pe.roce.bth.p_key, hdr.pe.roce.bth.fecn, hdr.pe.roce.bth.becn,
                hdr.pe.roce.bth.reserved1, hdr.pe.roce.bth.dest_qp,
                hdr.pe.roce.bth.ack_request, hdr.pe.roce.bth.reserved2, hdr.pe.roce.bth.psn,
                hdr.pe.roce.cnp_payload.icrc }, true);
        }

        if (md.is_advertisement) {
            hdr.pe.neighbor.nd.checksum = advertisement_checksum.update({
                hdr.pe.ipv6.src, hdr.pe.ipv6.dst, hdr.pe.ipv6.payload_len, 8w0, hdr.pe.ipv6.next_header,
                hdr.pe.neighbor.nd.type, hdr.pe.neighbor.nd.code, hdr.pe.neighbor.nd.flags,
                hdr.pe.neighbor.nd.target, hdr.pe.neighbor.nd_option.type,
                hdr.pe.neighbor.nd_option.length, hdr.pe.neighbor.nd_option.mac });
        }

        packet.emit(hdr.bridge);
        packet.emit(hdr.pe.packet_in);
        packet.emit(hdr.pe.ethernet);
        packet.emit(hdr.pe.vlan);
        packet.emit(hdr.pe.outer_ipv6);
        packet.emit(hdr.pe.srv6.srh);
        packet.emit(hdr.pe.srv6.segment0);
        packet.emit(hdr.pe.srv6.segment1);
        packet.emit(hdr.pe.srv6.segment2);
        packet.emit(hdr.pe.srv6.segment3);
        packet.emit(hdr.pe.tunnel.gre);
        packet.emit(hdr.pe.tunnel.gre_key);
        packet.emit(hdr.pe.tunnel.udp);
        packet.emit(hdr.pe.tunnel.vxlan);
        packet.emit(hdr.pe.tunnel.mpls0);
        packet.emit(hdr.pe.tunnel.mpls1);
        packet.emit(hdr.pe.tunnel.inner_ethernet);
        packet.emit(hdr.pe.neighbor.arp);
        packet.emit(hdr.pe.ipv4);
        packet.emit(hdr.pe.ipv6);
        packet.emit(hdr.pe.neighbor.nd);
        packet.emit(hdr.pe.neighbor.nd_option);
        packet.emit(hdr.pe.udp);
        packet.emit(hdr.pe.fast_cnp);
        packet.emit(hdr.pe.roce.bth);
        packet.emit(hdr.pe.roce.cnp_payload);
        packet.emit(hdr.pe.roce.deth);
        packet.emit(hdr.pe.roce.mad);
        packet.emit(hdr.pe.roce.cm_ids);
    }
}

#endif
