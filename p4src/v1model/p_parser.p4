// Parser and deparser of the transit node: underlay headers; what is in the tunnel of a copy that becomes a CNP
// for its sender, or of a packet whose flow can be held.
#ifndef FCN_P_PARSER_P4
#define FCN_P_PARSER_P4

parser PParser(
        packet_in packet,
        out p_headers_t hdr,
        inout p_meta_t meta,
        inout standard_metadata_t standard_metadata) {
    SrhParser() srh_parser;
    NeighborDiscoveryParser() neighbor_discovery_parser;
    ArnParser() arn_parser;
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
            CLOCK_ETHER_TYPE: choose_clock;
            default: accept;
        }
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

    state parse_outer_ipv6 {
        packet.extract(hdr.outer_ipv6);
        transition select(
                meta.base.copy_kind, meta.flow_control.parse_more, hdr.outer_ipv6.version,
                hdr.outer_ipv6.next_header) {
            (NotificationKind.END_CON_CNP, _, _, IpProtocol.ROUTING): parse_srh_and_inner;
            (NotificationKind.END_CON_CNP, _, _, _): parse_inner_of_underlay;
            (_, ParseMore.INNER, _, IpProtocol.ROUTING): parse_srh_and_inner;
            (_, ParseMore.INNER, _, _): parse_inner_of_underlay;
            (_, _, 6, IpProtocol.ROUTING): parse_srh;
            (_, _, 6, IpProtocol.UDP): parse_outer_udp;
            (_, _, 6, IpProtocol.ICMPV6): parse_icmpv6;
            (_, _, 6, _): accept;
            default: bad_version;
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
        neighbor_discovery_parser.apply(packet, hdr.outer_ipv6, meta.base.is_nd);
        transition accept;
    }

    state parse_outer_udp {
        packet.extract(hdr.outer_udp);
        transition select(meta.flow_control.parse_more) {
            ParseMore.ARN: parse_arn;
            ParseMore.BFD: parse_bfd;
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
}

control PDeparser(packet_out packet, in p_headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.clock);
        packet.emit(hdr.outer_ipv6);
        packet.emit(hdr.srv6.srh);
        packet.emit(hdr.srv6.segment0);
        packet.emit(hdr.srv6.segment1);
        packet.emit(hdr.srv6.segment2);
        packet.emit(hdr.srv6.segment3);
        // What a message was a copy of is behind it, and cut off.
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.bfd);
        packet.emit(hdr.fantel.icmpv6);
        packet.emit(hdr.fantel.about);
        packet.emit(hdr.fantel.five_tuple);
        packet.emit(hdr.fantel.cause);
        packet.emit(hdr.fantel.queue);
        packet.emit(hdr.fantel.load);
        packet.emit(hdr.arn.arn);
        packet.emit(hdr.arn.five_tuple);
        packet.emit(hdr.arn.ipv4);
        packet.emit(hdr.arn.ipv6);
        packet.emit(hdr.arn.ports);
        packet.emit(hdr.arn.path);
        packet.emit(hdr.arn.priority);
        packet.emit(hdr.arn.time);
        packet.emit(hdr.fast_cnp);
        packet.emit(hdr.tunnel.gre);
        packet.emit(hdr.tunnel.gre_key);
        packet.emit(hdr.tunnel.udp);
        packet.emit(hdr.tunnel.vxlan);
        packet.emit(hdr.tunnel.mpls0);
        packet.emit(hdr.tunnel.mpls1);
        packet.emit(hdr.tunnel.inner_ethernet);
        packet.emit(hdr.inner.ipv4);
        packet.emit(hdr.inner.ipv6);
        packet.emit(hdr.inner.udp);
        packet.emit(hdr.inner.bth);
        packet.emit(hdr.inner.cnp_payload);
    }
}

#endif
