// Parsers and deparsers of the transit node: underlay headers only.
#ifndef FCN_P_PARSER_P4
#define FCN_P_PARSER_P4

parser PIngressParser(
        packet_in packet,
        out p_pass_headers_t hdr,
        out tna_meta_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        md.meta.is_nd = false;
        md.meta.parse_failed = false;
        md.meta.copy = Copy.NONE;
        md.meta.udp_dst_port = 0;
        md.meta.ingress_port = ig_intr_md.ingress_port;
        transition select(ig_intr_md.ingress_port) {
            CPU_PORT: parse_packet_out;
            RECIRC_PORT: parse_copy;
            default: parse_ethernet;
        }
    }

    state parse_packet_out {
        packet.extract(hdr.p.packet_out);
        transition accept;
    }

    // Second pass: the egress has built the Fast CNP.
    state parse_copy {
        packet.extract(hdr.copy);
        md.meta.copy = Copy.FAST_CNP;
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.p.ethernet);
        transition select(hdr.p.ethernet.ether_type) {
            EtherType.IPV6: parse_outer_ipv6;
            default: accept;
        }
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.p.outer_ipv6);
        transition select(hdr.p.outer_ipv6.version, hdr.p.outer_ipv6.next_header) {
            (6, IpProtocol.ROUTING): parse_srh;
            (6, IpProtocol.UDP): parse_outer_udp;
            (6, IpProtocol.ICMPV6): parse_icmpv6;
            (6, _): accept;
            default: bad_version;
        }
    }
    state bad_version {
        md.meta.parse_failed = true;
        transition accept;
    }

    // Up to four segments and no TLV; another SRH stays payload, which transit does not need.
    state parse_srh {
        packet.extract(hdr.p.srh);
        transition select(
                hdr.p.srh.routing_type, hdr.p.srh.hdr_ext_len, hdr.p.srh.last_entry) {
            (4, 2, 0): parse_one_segment;
            (4, 4, 1): parse_two_segments;
            (4, 6, 2): parse_three_segments;
            (4, 8, 3): parse_four_segments;
            default: accept;
        }
    }
    state parse_one_segment {
        packet.extract(hdr.p.segment0);
        transition accept;
    }
    state parse_two_segments {
        packet.extract(hdr.p.segment0);
        packet.extract(hdr.p.segment1);
        transition accept;
    }
    state parse_three_segments {
        packet.extract(hdr.p.segment0);
        packet.extract(hdr.p.segment1);
        packet.extract(hdr.p.segment2);
        transition accept;
    }
    state parse_four_segments {
        packet.extract(hdr.p.segment0);
        packet.extract(hdr.p.segment1);
        packet.extract(hdr.p.segment2);
        packet.extract(hdr.p.segment3);
        transition accept;
    }

    state parse_icmpv6 {
        transition select(packet.lookahead<bit<8>>(), hdr.p.outer_ipv6.hop_limit) {
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

    state parse_outer_udp {
        md.meta.udp_dst_port = packet.lookahead<udp_h>().dst_port;
        transition accept;
    }
}

control PIngressDeparser(
        packet_out packet,
        inout p_pass_headers_t hdr,
        in tna_meta_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        packet.emit(hdr.bridge);
        packet.emit(hdr.p.packet_in);
        packet.emit(hdr.p.ethernet);
        packet.emit(hdr.p.outer_ipv6);
        packet.emit(hdr.p.srh);
        packet.emit(hdr.p.segment0);
        packet.emit(hdr.p.segment1);
        packet.emit(hdr.p.segment2);
        packet.emit(hdr.p.segment3);
    }
}

parser PEgressParser(
        packet_in packet,
        out p_pass_headers_t hdr,
        out tna_meta_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        md.meta.copy = Copy.NONE;
        md.meta.copy_level = 0;
        transition select(packet.lookahead<bit<8>>(), eg_intr_md.egress_port) {
            (PassType.MIRROR, _): parse_copy;
            (_, CPU_PORT): parse_bridge_to_cpu;
            default: parse_bridge;
        }
    }

    // The mirror session cuts the copy behind the IPv6 header.
    state parse_copy {
        packet.extract(hdr.copy);
        md.meta.copy = Copy.FAST_CNP;
        md.meta.copy_level = hdr.copy.level;
        transition parse_ethernet;
    }

    state parse_bridge_to_cpu {
        packet.extract(hdr.bridge);
        transition accept;
    }

    state parse_bridge {
        packet.extract(hdr.bridge);
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.p.ethernet);
        transition select(hdr.p.ethernet.ether_type) {
            EtherType.IPV6: parse_outer_ipv6;
            default: accept;
        }
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.p.outer_ipv6);
        transition accept;
    }
}

control PEgressDeparser(
        packet_out packet,
        inout p_pass_headers_t hdr,
        in tna_meta_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
    Checksum() udp_checksum;

    apply {
        if (eg_dprsr_md.mirror_type == MIRROR_COPY) {
            mirror.emit<copy_h>(
                md.mirror_session,
                { md.mirror.pass, md.mirror.pad0, md.mirror.copy, md.mirror.level, md.mirror.pad1,
                  md.mirror.label });
        }
        // A Fast CNP is the only datagram whose UDP header is here; it is no tunnel, so its checksum is
        // mandatory (FCN-9).
        hdr.p.outer_udp.checksum = udp_checksum.update(
            { hdr.p.outer_ipv6.src, hdr.p.outer_ipv6.dst, hdr.p.outer_udp.length,
              8w0, hdr.p.outer_ipv6.next_header, hdr.p.outer_udp.src_port,
              hdr.p.outer_udp.dst_port, hdr.p.outer_udp.length, hdr.p.fast_cnp.word },
            true);
        packet.emit(hdr.copy);
        packet.emit(hdr.p.ethernet);
        packet.emit(hdr.p.outer_ipv6);
        packet.emit(hdr.p.outer_udp);
        packet.emit(hdr.p.fast_cnp);
    }
}

#endif
