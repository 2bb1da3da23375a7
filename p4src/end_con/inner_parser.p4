#ifndef FCN_INNER_PARSER_P4
#define FCN_INNER_PARSER_P4

#include "../base/p_headers.p4"
#include "../forwarding/tunnel_parser.p4"

// Sub-parser of what a tunnel carries, behind the underlay's IPv6 header and SRH: RoCEv2 up to its BTH. When the
// tunnel or what is in it is something else, the BTH stays invalid.
parser InnerParser(
        packet_in packet, in bit<8> next_header, inout tunnel_headers_t tunnel,
        inout inner_headers_t inner) {
    GreParser() gre_parser;
    VxlanParser() vxlan_parser;
    MplsParser() mpls_parser;
    bit<32> tunnel_id;
    bool unsupported;

    state start {
        tunnel_id = 0;
        unsupported = false;
        transition select(next_header) {
            IpProtocol.IPV4: parse_ipv4;
            IpProtocol.IPV6: parse_ipv6;
            IpProtocol.GRE: parse_gre;
            IpProtocol.UDP: parse_udp_tunnel;
            default: accept;
        }
    }

    state parse_gre {
        gre_parser.apply(packet, tunnel, tunnel_id, unsupported);
        transition select(unsupported, tunnel.gre.protocol) {
            (false, EtherType.IPV4): parse_ipv4;
            (false, EtherType.IPV6): parse_ipv6;
            default: accept;
        }
    }

    state parse_udp_tunnel {
        packet.extract(tunnel.udp);
        transition select(tunnel.udp.dst_port) {
            UdpPort.VXLAN: parse_vxlan;
            UdpPort.MPLS: parse_mpls;
            default: accept;
        }
    }
    state parse_vxlan {
        vxlan_parser.apply(packet, tunnel, tunnel_id, unsupported);
        transition select(unsupported, tunnel.inner_ethernet.ether_type) {
            (false, EtherType.IPV4): parse_ipv4;
            (false, EtherType.IPV6): parse_ipv6;
            default: accept;
        }
    }
    state parse_mpls {
        mpls_parser.apply(packet, tunnel, unsupported);
        transition select(unsupported, packet.lookahead<bit<4>>()) {
            (false, 4): parse_ipv4;
            (false, 6): parse_ipv6;
            default: accept;
        }
    }

    // RoCEv2 has neither options nor fragments. A packet of less than 20 octets is malformed.
    state parse_ipv4 {
        packet.extract(inner.ipv4);
        transition select(inner.ipv4.version, inner.ipv4.ihl, inner.ipv4.total_len) {
            (4, 5, 0 &&& 0xfff0): accept;
            (4, 5, 0x0010 &&& 0xfffc): accept;
            (4, 5, _): parse_behind_ipv4;
            default: accept;
        }
    }
    state parse_behind_ipv4 {
        transition select(inner.ipv4.flags, inner.ipv4.frag_offset, inner.ipv4.protocol) {
            (0 &&& 1, 0, IpProtocol.UDP): parse_udp;
            default: accept;
        }
    }
    state parse_ipv6 {
        packet.extract(inner.ipv6);
        transition select(inner.ipv6.version, inner.ipv6.next_header) {
            (6, IpProtocol.UDP): parse_udp;
            default: accept;
        }
    }
    state parse_udp {
        packet.extract(inner.udp);
        transition select(inner.udp.dst_port) {
            UdpPort.ROCEV2: parse_bth;
            default: accept;
        }
    }
    state parse_bth {
        packet.extract(inner.bth);
        transition accept;
    }
}

#endif
