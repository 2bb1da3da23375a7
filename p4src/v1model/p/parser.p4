// Parser of the transit node: underlay headers; what is in the tunnel of a copy that becomes a CNP
// for its sender, or of a packet whose flow can be held.
#ifndef FCN_P_PARSER_P4
#define FCN_P_PARSER_P4

#include "../../base/v1model/p.p4"
#include "../../end_con/inner_parser.p4"
#include "../../fantel/links/link_types.p4"
#include "../../fantel/messages/fantel_headers.p4"
#include "../../flow_control/arn_parser.p4"
#include "../../forwarding/srv6_parser.p4"

parser PParser(
        packet_in packet,
        out p_headers_t hdr,
        inout p_meta_t meta,
        inout standard_metadata_t standard_metadata) {
    SrhParser() srh_parser;
    NeighborDiscoveryParser() neighbor_discovery_parser;
#if HAS_FLOW_CONTROL
    ArnParser() arn_parser;
#endif
    InnerParser() inner_parser;
    // Called in one place: p4c copies all headers of a sub-parser that is called in two.
    bit<8> inner_protocol;

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
            EtherType.IPV6: parse_outer_ipv6;
#if HAS_FANTEL
            CLOCK_ETHER_TYPE: choose_clock;
#endif
            default: accept;
        }
    }
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

    state parse_outer_ipv6 {
        packet.extract(hdr.outer_ipv6);
        transition select(meta.base.copy_kind, meta.base.parse_more) {
            (NotificationKind.END_CON_CNP, _): parse_whole;
#if HAS_FLOW_CONTROL
            (_, ParseMore.INNER): parse_whole;
#endif
            default: parse_underlay;
        }
    }
    state parse_underlay {
        transition select(hdr.outer_ipv6.version, hdr.outer_ipv6.next_header) {
            (6, IpProtocol.ROUTING): parse_srh;
            (6, IpProtocol.UDP): parse_outer_udp;
            (6, IpProtocol.ICMPV6): parse_icmpv6;
            (6, _): accept;
            default: bad_version;
        }
    }
    state parse_whole {
        transition select(hdr.outer_ipv6.next_header) {
            IpProtocol.ROUTING: parse_srh_and_inner;
            default: parse_inner_of_underlay;
        }
    }
    state parse_srh_and_inner {
        srh_parser.apply(packet, hdr.srv6);
        transition select(
                hdr.srv6.srh.routing_type, hdr.srv6.srh.hdr_ext_len, hdr.srv6.srh.last_entry) {
            (4, 2, 0): parse_inner_of_srh;
            (4, 4, 1): parse_inner_of_srh;
            (4, 6, 2): parse_inner_of_srh;
            (4, 8, 3): parse_inner_of_srh;
            default: accept;
        }
    }
    // As at a PE: behind an SRH there is the customer's packet, no other tunnel.
    state parse_inner_of_srh {
        inner_protocol = hdr.srv6.srh.next_header;
        transition select(hdr.srv6.srh.next_header) {
            IpProtocol.IPV4: parse_inner;
            IpProtocol.IPV6: parse_inner;
            default: accept;
        }
    }
    state parse_inner_of_underlay {
        inner_protocol = hdr.outer_ipv6.next_header;
        transition parse_inner;
    }
    state parse_inner {
        inner_parser.apply(packet, inner_protocol, hdr.tunnel, hdr.inner);
        transition accept;
    }
    state bad_version {
        meta.base.is_malformed = true;
        transition accept;
    }

    state parse_srh {
        srh_parser.apply(packet, hdr.srv6);
        transition accept;
    }

    state parse_icmpv6 {
#if HAS_FLOW_CONTROL || HAS_FANTEL
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
#endif
        neighbor_discovery_parser.apply(packet, hdr.outer_ipv6, meta.base.is_nd);
        transition accept;
    }

    state parse_outer_udp {
        packet.extract(hdr.tunnel.udp);
#if HAS_FLOW_CONTROL || HAS_FANTEL
        transition select(meta.base.parse_more) {
#if HAS_FLOW_CONTROL
            ParseMore.ARN: parse_arn;
#endif
#if HAS_FANTEL
            ParseMore.BFD: parse_bfd;
#endif
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
#endif
#else
        transition accept;
    }
#endif
}

#endif
