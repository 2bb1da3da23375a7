// Parser and deparser of the provider edge.
#ifndef FCN_PE_PARSER_P4
#define FCN_PE_PARSER_P4

error {
    BadIpVersion,
    BadIpHeaderLength,
    BadIpLength,
    UnsupportedTunnel
}

// Enough of an IPv6 packet to see whether it may be an underlay packet of ours.
header ipv6_peek_h {
    bit<48> skipped;
    bit<8> next_header;
}
header ipv6_udp_peek_h {
    bit<336> skipped;
    bit<16> dst_port;
}

// A v1model parser cannot ask which side a port faces. It takes an IPv6 packet that looks like one of
// the tunnels for an underlay packet; where the port turns out to face a customer, the shell submits
// the packet again with meta.flat set and everything behind the IPv6 header is the customer's own.
parser PeParser(
        packet_in packet,
        out pe_headers_t hdr,
        inout meta_t meta,
        inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            EtherType.VLAN: parse_vlan;
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: choose_ipv6;
            default: accept;
        }
    }

    state parse_vlan {
        packet.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: choose_ipv6;
            default: accept;
        }
    }

    state choose_ipv6 {
        transition select(meta.flat, packet.lookahead<ipv6_peek_h>().next_header) {
            (0, IpProtocol.IPV4): parse_outer_ipv6;
            (0, IpProtocol.IPV6): parse_outer_ipv6;
            (0, IpProtocol.ROUTING): parse_outer_ipv6;
            (0, IpProtocol.GRE): parse_outer_ipv6;
            (0, IpProtocol.UDP): choose_ipv6_udp;
            default: parse_ipv6;
        }
    }

    state choose_ipv6_udp {
        transition select(packet.lookahead<ipv6_udp_peek_h>().dst_port) {
            UdpPort.VXLAN: parse_outer_ipv6;
            UdpPort.MPLS: parse_outer_ipv6;
            default: parse_ipv6;
        }
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.outer_ipv6);
        verify(hdr.outer_ipv6.version == 6, error.BadIpVersion);
        transition select(hdr.outer_ipv6.next_header) {
            IpProtocol.IPV4: parse_ipv4;
            IpProtocol.IPV6: parse_ipv6;
            IpProtocol.ROUTING: parse_srh;
            IpProtocol.GRE: parse_gre;
            IpProtocol.UDP: parse_outer_udp;
            default: accept;
        }
    }

    // Up to four segments and no TLV; another SRH stays payload, which transit does not need.
    state parse_srh {
        packet.extract(hdr.srh);
        transition select(hdr.srh.routing_type, hdr.srh.hdr_ext_len, hdr.srh.last_entry) {
            (4, 2, 0): parse_one_segment;
            (4, 4, 1): parse_two_segments;
            (4, 6, 2): parse_three_segments;
            (4, 8, 3): parse_four_segments;
            default: accept;
        }
    }
    state parse_one_segment {
        packet.extract(hdr.segment0);
        transition parse_behind_srh;
    }
    state parse_two_segments {
        packet.extract(hdr.segment0);
        packet.extract(hdr.segment1);
        transition parse_behind_srh;
    }
    state parse_three_segments {
        packet.extract(hdr.segment0);
        packet.extract(hdr.segment1);
        packet.extract(hdr.segment2);
        transition parse_behind_srh;
    }
    state parse_four_segments {
        packet.extract(hdr.segment0);
        packet.extract(hdr.segment1);
        packet.extract(hdr.segment2);
        packet.extract(hdr.segment3);
        transition parse_behind_srh;
    }
    state parse_behind_srh {
        transition select(hdr.srh.next_header) {
            IpProtocol.IPV4: parse_ipv4;
            IpProtocol.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_gre {
        packet.extract(hdr.gre);
        meta.tunnel_type = TunnelType.GRE;
        transition select(hdr.gre.flags) {
            0x0000: parse_behind_gre;
            0x2000: parse_gre_key;
            default: unsupported_tunnel;
        }
    }
    state parse_gre_key {
        packet.extract(hdr.gre_key);
        meta.tunnel_id = hdr.gre_key.key;
        transition parse_behind_gre;
    }
    state parse_behind_gre {
        transition select(hdr.gre.protocol) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_outer_udp {
        packet.extract(hdr.outer_udp);
        transition select(hdr.outer_udp.dst_port) {
            UdpPort.VXLAN: parse_vxlan;
            UdpPort.MPLS: parse_mpls;
            default: accept;
        }
    }

    state parse_vxlan {
        packet.extract(hdr.vxlan);
        meta.tunnel_type = TunnelType.VXLAN;
        meta.tunnel_id = (bit<32>)hdr.vxlan.vni;
        transition select(hdr.vxlan.flags) {
            0x08 &&& 0x08: parse_inner_ethernet;
            default: unsupported_tunnel;
        }
    }
    state parse_inner_ethernet {
        packet.extract(hdr.inner_ethernet);
        transition select(hdr.inner_ethernet.ether_type) {
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_mpls {
        packet.extract(hdr.mpls0);
        meta.tunnel_type = TunnelType.MPLS_UDP;
        meta.tunnel_id = (bit<32>)hdr.mpls0.label;
        transition select(hdr.mpls0.bottom_of_stack) {
            1: parse_behind_mpls;
            default: parse_second_mpls;
        }
    }
    state parse_second_mpls {
        packet.extract(hdr.mpls1);
        meta.tunnel_id = (bit<32>)hdr.mpls1.label;
        transition select(hdr.mpls1.bottom_of_stack) {
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
        verify(false, error.UnsupportedTunnel);
        transition accept;
    }

    // A fragment or a packet with options goes its way unexamined; RoCEv2 has neither.
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.BadIpVersion);
        verify(hdr.ipv4.ihl >= 5, error.BadIpHeaderLength);
        verify(hdr.ipv4.total_len >= 20, error.BadIpLength);
        transition select(
                hdr.ipv4.ihl, hdr.ipv4.flags & 1, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0, 0, IpProtocol.UDP): parse_udp;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.BadIpVersion);
        transition select(hdr.ipv6.next_header) {
            IpProtocol.UDP: parse_udp;
            IpProtocol.ICMPV6: parse_icmpv6;
            default: accept;
        }
    }

    state parse_icmpv6 {
        packet.extract(hdr.icmpv6);
        transition select(hdr.icmpv6.type, hdr.ipv6.hop_limit) {
            (133 .. 137, 255): neighbor_discovery;
            default: accept;
        }
    }
    state neighbor_discovery {
        meta.is_nd = !hdr.outer_ipv6.isValid();
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst_port, hdr.udp.length) {
            (UdpPort.ROCEV2, _): parse_bth;
            (_, FAST_CNP_UDP_LENGTH): parse_fast_cnp;
            default: accept;
        }
    }

    // The port of Fast CNPs is configuration, so any datagram of their length may be one.
    state parse_fast_cnp {
        packet.extract(hdr.fast_cnp);
        transition accept;
    }

    state parse_bth {
        packet.extract(hdr.bth);
        transition select(hdr.bth.opcode, hdr.bth.dest_qp) {
            (BthOpcode.UD_SEND_ONLY, QP1): parse_deth;
            default: accept;
        }
    }
    state parse_deth {
        packet.extract(hdr.deth);
        packet.extract(hdr.mad);
        transition select(hdr.mad.mgmt_class) {
            MAD_CLASS_CM: parse_cm;
            default: accept;
        }
    }
    state parse_cm {
        packet.extract(hdr.cm_ids);
        transition select(hdr.mad.attribute) {
            CmAttribute.REQ: parse_cm_req;
            CmAttribute.REP: parse_cm_rep;
            CmAttribute.DREQ: parse_cm_dreq;
            default: accept;
        }
    }
    state parse_cm_req {
        packet.extract(hdr.cm_req);
        transition accept;
    }
    state parse_cm_rep {
        packet.extract(hdr.cm_rep);
        transition accept;
    }
    state parse_cm_dreq {
        packet.extract(hdr.cm_dreq);
        transition accept;
    }
}

control PeDeparser(packet_out packet, in pe_headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.vlan);
        packet.emit(hdr.outer_ipv6);
        packet.emit(hdr.srh);
        packet.emit(hdr.segment0);
        packet.emit(hdr.segment1);
        packet.emit(hdr.segment2);
        packet.emit(hdr.segment3);
        packet.emit(hdr.gre);
        packet.emit(hdr.gre_key);
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.mpls0);
        packet.emit(hdr.mpls1);
        packet.emit(hdr.inner_ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.icmpv6);
        packet.emit(hdr.udp);
        packet.emit(hdr.fast_cnp);
        packet.emit(hdr.bth);
        packet.emit(hdr.cnp_payload);
        packet.emit(hdr.icrc);
        packet.emit(hdr.deth);
        packet.emit(hdr.mad);
        packet.emit(hdr.cm_ids);
        packet.emit(hdr.cm_req);
        packet.emit(hdr.cm_rep);
        packet.emit(hdr.cm_dreq);
    }
}

#endif
