// Parser of the provider edge.
#ifndef FCN_PE_PARSER_P4
#define FCN_PE_PARSER_P4

#include "../../base/v1model/pe.p4"
#include "../../fantel/links/link_types.p4"
#include "../../fantel/messages/fantel_headers.p4"
#include "../../fantel/messages/fantel_parser.p4"
#include "../../flow_control/arn_parser.p4"
#include "../../forwarding/neighbor_parser.p4"
#include "../../forwarding/srv6_parser.p4"
#include "../../forwarding/tunnel_parser.p4"
#include "../../forwarding/v1model/solicitation_parser.p4"
#include "../../learning/roce_parser.p4"

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
#if HAS_FLOW_CONTROL
    ArnParser() arn_parser;
#endif
#if HAS_FANTEL
    FantelParser() fantel_parser;
    // Called in one place: p4c copies all headers of a sub-parser that is called in two.
    bit<8> fantel_version;
    bit<8> fantel_code;
#endif

    state start {
        transition select(standard_metadata.ingress_port) {
            CPU_PORT: parse_packet_out;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.packet_out);
#if HAS_FANTEL
        transition select(hdr.packet_out.egress_port) {
            CPU_PORT: parse_path_report;
            default: accept;
        }
    }
    state parse_path_report {
        packet.extract(hdr.path_report);
#endif
        transition accept;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            EtherType.VLAN: parse_vlan;
            EtherType.IPV4: parse_ipv4;
            EtherType.IPV6: choose_ipv6;
            EtherType.ARP: parse_arp;
#if HAS_FLOW_CONTROL
            EtherType.MAC_CONTROL: parse_pause;
#endif
#if HAS_FANTEL
            CLOCK_ETHER_TYPE: choose_clock;
#endif
            default: accept;
        }
    }
#if HAS_FLOW_CONTROL
    state parse_pause {
        packet.extract(hdr.pause);
        transition accept;
    }
#endif
#if HAS_FANTEL
    state choose_clock {
        transition select(meta.fantel.is_clock) {
            1: parse_clock;
            default: accept;
        }
    }
    state parse_clock {
        packet.extract(hdr.clock);
        transition accept;
    }
#endif

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
#if HAS_FLOW_CONTROL || HAS_FANTEL
    state parse_icmpv6 {
        transition select(hdr.outer_ipv6.isValid(), meta.base.parse_more) {
#if HAS_FANTEL
            (false, ParseMore.FANTEL): choose_fantel_icmpv6;
#endif
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
#else
    state parse_icmpv6 {
        transition select(hdr.outer_ipv6.isValid()) {
            false: parse_neighbor_discovery;
            default: accept;
        }
    }
#endif
    state parse_neighbor_discovery {
        neighbor_discovery_parser.apply(packet, hdr.ipv6, meta.base.is_nd);
        solicitation_parser.apply(packet, hdr.ipv6, hdr.neighbor);
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
#if HAS_FLOW_CONTROL || HAS_FANTEL
        transition select(meta.base.parse_more) {
#if HAS_FLOW_CONTROL
            ParseMore.ARN: parse_arn;
#endif
#if HAS_FANTEL
            ParseMore.FANTEL: parse_fantel;
            ParseMore.BFD: parse_bfd;
#endif
            default: choose_udp;
        }
    }
    state choose_udp {
#endif
        transition select(hdr.udp.dst_port, hdr.udp.length) {
            (UdpPort.ROCEV2, _): parse_bth;
            (_, FAST_CNP_UDP_LENGTH): parse_fast_cnp;
            default: accept;
        }
    }
#if HAS_FLOW_CONTROL
    state parse_arn {
        arn_parser.apply(packet, hdr.arn, hdr.five_tuple);
        transition accept;
    }
#endif
#if HAS_FANTEL
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
        fantel_parser.apply(packet, fantel_version, fantel_code, hdr.fantel, hdr.five_tuple);
        transition accept;
    }
#endif

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

#endif
