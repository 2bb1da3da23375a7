// Parser and deparser of the transit node: underlay headers only.
#ifndef FCN_P_PARSER_P4
#define FCN_P_PARSER_P4

error {
    BadIpVersion
}

parser PParser(
        packet_in packet,
        out p_headers_t hdr,
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
            EtherType.IPV6: parse_outer_ipv6;
            default: accept;
        }
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.outer_ipv6);
        verify(hdr.outer_ipv6.version == 6, error.BadIpVersion);
        transition select(hdr.outer_ipv6.next_header) {
            IpProtocol.ROUTING: parse_srh;
            IpProtocol.UDP: parse_outer_udp;
            IpProtocol.ICMPV6: parse_icmpv6;
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
        transition accept;
    }
    state parse_two_segments {
        packet.extract(hdr.segment0);
        packet.extract(hdr.segment1);
        transition accept;
    }
    state parse_three_segments {
        packet.extract(hdr.segment0);
        packet.extract(hdr.segment1);
        packet.extract(hdr.segment2);
        transition accept;
    }
    state parse_four_segments {
        packet.extract(hdr.segment0);
        packet.extract(hdr.segment1);
        packet.extract(hdr.segment2);
        packet.extract(hdr.segment3);
        transition accept;
    }

    state parse_icmpv6 {
        packet.extract(hdr.icmpv6);
        transition select(hdr.icmpv6.type, hdr.outer_ipv6.hop_limit) {
            (133 .. 137, 255): neighbor_discovery;
            default: accept;
        }
    }
    state neighbor_discovery {
        meta.is_nd = true;
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
        packet.emit(hdr.srh);
        packet.emit(hdr.segment0);
        packet.emit(hdr.segment1);
        packet.emit(hdr.segment2);
        packet.emit(hdr.segment3);
        packet.emit(hdr.icmpv6);
        packet.emit(hdr.outer_udp);
        packet.emit(hdr.fast_cnp);
    }
}

#endif
