// Parser and deparser of the transit node: underlay headers only.
#ifndef FCN_P_PARSER_P4
#define FCN_P_PARSER_P4

parser PParser(
        packet_in packet,
        out p_headers_t hdr,
        inout p_meta_t meta,
        inout standard_metadata_t standard_metadata) {
    SrhParser() srh_parser;
    NeighborDiscoveryParser() neighbor_discovery_parser;

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
            default: accept;
        }
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.outer_ipv6);
        transition select(hdr.outer_ipv6.version, hdr.outer_ipv6.next_header) {
            (6, IpProtocol.ROUTING): parse_srh;
            (6, IpProtocol.UDP): parse_outer_udp;
            (6, IpProtocol.ICMPV6): parse_icmpv6;
            (6, _): accept;
            default: bad_version;
        }
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
        neighbor_discovery_parser.apply(packet, hdr.outer_ipv6, meta.base.is_nd);
        transition accept;
    }

    state parse_outer_udp {
        packet.extract(hdr.outer_udp);
        transition accept;
    }
}

control PDeparser(packet_out packet, in p_headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.outer_ipv6);
        packet.emit(hdr.srv6.srh);
        packet.emit(hdr.srv6.segment0);
        packet.emit(hdr.srv6.segment1);
        packet.emit(hdr.srv6.segment2);
        packet.emit(hdr.srv6.segment3);
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.fast_cnp);
    }
}

#endif
