// Parser and deparser of the provider edge.
#ifndef FCN_PE_PARSER_P4
#define FCN_PE_PARSER_P4

// A v1model parser cannot look up the role of a port. It parses an IPv6 packet with the format of a tunnel
// as an underlay packet; when the packet came from a DC port, the ingress control resubmits it with
// meta.flat set, and everything behind the IPv6 header is parsed as the customer's payload.
parser PeParser(
        packet_in packet,
        out pe_headers_t hdr,
        inout pe_meta_t meta,
        inout standard_metadata_t standard_metadata) {
    SrhParser() srh_parser;
    GreParser() gre_parser;
    VxlanParser() vxlan_parser;
    MplsParser() mpls_parser;
    NeighborDiscoveryParser() neighbor_discovery_parser;
    RoceParser() roce_parser;
    ArpRequestParser() arp_request_parser;
    SolicitationParser() solicitation_parser;
    ArnParser() arn_parser;
    FantelParser() fantel_parser;
    // Called in one place: p4c copies all headers of a sub-parser that is called in two.
    bit<8> fantel_version;
    bit<8> fantel_code;

    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition select(hdr.packet_out.egress_port) {
            CPU_PORT: parse_path_report;
            default: accept;
        }
    }
    state parse_path_report {
        packet.extract(hdr.path_report);
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            EtherType.VLAN: parse_vlan;
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: choose_ipv6;
            EtherType.ARP: parse_arp;
            EtherType.MAC_CONTROL: parse_pause;
            CLOCK_ETHER_TYPE: choose_clock;
            default: accept;
        }
    }
    state parse_pause {
        packet.extract(hdr.pause);
        transition accept;
    }
    state choose_clock {
        transition select(meta.base.is_clock) {
            1: parse_clock;
            default: accept;
        }
    }
    state parse_clock {
        packet.extract(hdr.clock);
        transition accept;
    }

    state parse_vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: choose_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }

    state parse_arp {
        arp_request_parser.apply(packet, hdr.neighbor);
        transition accept;
    }

    // The next header is octet 7 of an IPv6 header, the destination port octets 43 and 44 with UDP behind it.
    state choose_ipv6 {
        transition select(meta.flat, packet.lookahead<bit<56>>()[7:0]) {
            (0, IpProtocol.IPV4): parse_outer_ipv6;
            (0, IpProtocol.IPV6): parse_outer_ipv6;
            (0, IpProtocol.ROUTING): parse_outer_ipv6;
            (0, IpProtocol.GRE): parse_outer_ipv6;
            (0, IpProtocol.UDP): choose_ipv6_udp;
            default: parse_ipv6;
        }
    }

    state choose_ipv6_udp {
        transition select(packet.lookahead<bit<352>>()[15:0]) {
            UdpPort.VXLAN: parse_outer_ipv6;
            UdpPort.MPLS: parse_outer_ipv6;
            default: parse_ipv6;
        }
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.outer_ipv6);
        transition select(hdr.outer_ipv6.version, hdr.outer_ipv6.next_header) {
            (6, IpProtocol.IPV4): parse_ipv4;
            (6, IpProtocol.IPV6): parse_ipv6;
            (6, IpProtocol.ROUTING): parse_srh;
            (6, IpProtocol.GRE): parse_gre;
            (6, IpProtocol.UDP): parse_outer_udp;
            (6, _): accept;
            default: malformed;
        }
    }
    state malformed {
        meta.parse_failed = true;
        transition accept;
    }

    // What is behind an SRH of another shape is not parsed.
    state parse_srh {
        srh_parser.apply(packet, hdr.srv6);
        transition select(
                hdr.srv6.srh.routing_type, hdr.srv6.srh.hdr_ext_len, hdr.srv6.srh.last_entry,
                hdr.srv6.srh.next_header) {
            (4, 2, 0, IpProtocol.IPV4): parse_ipv4;
            (4, 4, 1, IpProtocol.IPV4): parse_ipv4;
            (4, 6, 2, IpProtocol.IPV4): parse_ipv4;
            (4, 8, 3, IpProtocol.IPV4): parse_ipv4;
            (4, 2, 0, IpProtocol.IPV6): parse_ipv6;
            (4, 4, 1, IpProtocol.IPV6): parse_ipv6;
            (4, 6, 2, IpProtocol.IPV6): parse_ipv6;
            (4, 8, 3, IpProtocol.IPV6): parse_ipv6;
            default: accept;
        }
    }

    state parse_gre {
        meta.tunnel_type = TunnelType.GRE;
        gre_parser.apply(packet, hdr.tunnel, meta.tunnel_id, meta.unsupported_tunnel);
        transition select(hdr.tunnel.gre.protocol) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_outer_udp {
        packet.extract(hdr.tunnel.udp);
        transition select(hdr.tunnel.udp.dst_port) {
            UdpPort.VXLAN: parse_vxlan;
            UdpPort.MPLS: parse_mpls;
            default: accept;
        }
    }

    state parse_vxlan {
        meta.tunnel_type = TunnelType.VXLAN;
        vxlan_parser.apply(packet, hdr.tunnel, meta.tunnel_id, meta.unsupported_tunnel);
        transition select(hdr.tunnel.inner_ethernet.ether_type) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_mpls {
        meta.tunnel_type = TunnelType.MPLS_UDP;
        mpls_parser.apply(packet, hdr.tunnel, meta.unsupported_tunnel);
        transition select(packet.lookahead<bit<4>>()) {
            4: parse_ipv4;
            6: parse_ipv6;
            default: accept;
        }
    }

    // The payload of a fragment or of a packet with options is not parsed; RoCEv2 has neither. A header or a
    // packet of less than 20 octets is malformed.
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.total_len) {
            (4, 0 &&& 0xc, _): malformed;
            (4, 4, _): malformed;
            (4, _, 0 &&& 0xfff0): malformed;
            (4, _, 0x0010 &&& 0xfffc): malformed;
            (4, 5, _): parse_behind_ipv4;
            (4, _, _): accept;
            default: malformed;
        }
    }
    state parse_behind_ipv4 {
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, IpProtocol.UDP): parse_udp;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.version, hdr.ipv6.next_header) {
            (6, IpProtocol.UDP): parse_udp;
            (6, IpProtocol.ICMPV6): parse_icmpv6;
            (6, _): accept;
            default: malformed;
        }
    }

    // Inside a tunnel it belongs to the customer.
    state parse_icmpv6 {
        transition select(hdr.outer_ipv6.isValid(), meta.flow_control.parse_more) {
            (false, ParseMore.FANTEL): choose_fantel_icmpv6;
            (false, _): choose_icmpv6;
            default: accept;
        }
    }
    state choose_icmpv6 {
        transition select(packet.lookahead<bit<8>>()) {
            FANTEL_ICMPV6_TYPE: recognise_fantel;
            default: parse_neighbor_discovery;
        }
    }
    state recognise_fantel {
        meta.base.notification_kind = NotificationKind.FANTEL;
        transition accept;
    }
    state parse_neighbor_discovery {
        neighbor_discovery_parser.apply(packet, hdr.ipv6, meta.base.is_nd);
        solicitation_parser.apply(packet, hdr.ipv6, hdr.neighbor);
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(meta.flow_control.parse_more, hdr.udp.dst_port, hdr.udp.length) {
            (ParseMore.ARN, _, _): parse_arn;
            (ParseMore.FANTEL, _, _): parse_fantel;
            (ParseMore.BFD, _, _): parse_bfd;
            (_, UdpPort.ROCEV2, _): parse_bth;
            (_, _, FAST_CNP_UDP_LENGTH): parse_fast_cnp;
            default: accept;
        }
    }
    state parse_arn {
        arn_parser.apply(packet, hdr.arn);
        transition accept;
    }

    state parse_bfd {
        packet.extract(hdr.bfd);
        transition accept;
    }

    // Over IPv6 a datagram has a checksum, and one that would be 0 is sent as all ones (RFC 8200 section 8.1).
    state parse_fantel {
        transition select(hdr.udp.checksum) {
            0: accept;
            0xffff: parse_fantel_of_checksum_zero;
            default: parse_fantel_behind_udp;
        }
    }
    state parse_fantel_of_checksum_zero {
        hdr.udp.checksum = 0;
        transition parse_fantel_behind_udp;
    }
    state parse_fantel_behind_udp {
        packet.extract(hdr.fantel.fantel);
        fantel_version = hdr.fantel.fantel.version;
        fantel_code = hdr.fantel.fantel.code;
        transition parse_fantel_parameters;
    }
    state choose_fantel_icmpv6 {
        transition select(packet.lookahead<bit<8>>()) {
            FANTEL_ICMPV6_TYPE: parse_fantel_icmpv6;
            default: accept;
        }
    }
    state parse_fantel_icmpv6 {
        packet.extract(hdr.fantel.icmpv6);
        fantel_version = hdr.fantel.icmpv6.version;
        fantel_code = hdr.fantel.icmpv6.code;
        transition parse_fantel_parameters;
    }
    state parse_fantel_parameters {
        fantel_parser.apply(packet, fantel_version, fantel_code, hdr.fantel, hdr.arn);
        transition accept;
    }

    // The port of Fast CNPs is configurable, so any datagram of their length can be one.
    state parse_fast_cnp {
        packet.extract(hdr.fast_cnp);
        transition accept;
    }

    state parse_bth {
        roce_parser.apply(packet, hdr.roce, meta.cm);
        transition accept;
    }
}

// For HeldFlow, as at a P: its parser stops in a tunnel of another shape, and where a BTH is cut off.
#define FLOW_IS_HIDDEN(hdr, meta) \
    (meta.unsupported_tunnel || (hdr.udp.dst_port == UdpPort.ROCEV2 && !hdr.roce.bth.isValid()))

control PeDeparser(packet_out packet, in pe_headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.clock);
        packet.emit(hdr.pause);
        packet.emit(hdr.vlan);
        packet.emit(hdr.outer_ipv6);
        packet.emit(hdr.srv6.srh);
        packet.emit(hdr.srv6.segment0);
        packet.emit(hdr.srv6.segment1);
        packet.emit(hdr.srv6.segment2);
        packet.emit(hdr.srv6.segment3);
        packet.emit(hdr.tunnel.gre);
        packet.emit(hdr.tunnel.gre_key);
        packet.emit(hdr.tunnel.udp);
        packet.emit(hdr.bfd);
        packet.emit(hdr.arn.arn);
        packet.emit(hdr.arn.five_tuple);
        packet.emit(hdr.arn.ipv4);
        packet.emit(hdr.arn.ipv6);
        packet.emit(hdr.arn.ports);
        packet.emit(hdr.arn.path);
        packet.emit(hdr.arn.priority);
        packet.emit(hdr.arn.time);
        packet.emit(hdr.tunnel.vxlan);
        packet.emit(hdr.tunnel.mpls0);
        packet.emit(hdr.tunnel.mpls1);
        packet.emit(hdr.tunnel.inner_ethernet);
        packet.emit(hdr.neighbor.arp);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.neighbor.nd);
        packet.emit(hdr.neighbor.nd_option);
        packet.emit(hdr.udp);
        packet.emit(hdr.fast_cnp);
        packet.emit(hdr.roce.bth);
        packet.emit(hdr.roce.cnp_payload);
        packet.emit(hdr.roce.deth);
        packet.emit(hdr.roce.mad);
        packet.emit(hdr.roce.cm_ids);
    }
}

#endif
