// Egress parser and deparser of the provider edge.
#ifndef FCN_PE_EGRESS_PARSER_P4
#define FCN_PE_EGRESS_PARSER_P4

// The egress needs the first IP header only, which it takes for the underlay's when it is IPv6.
parser PeEgressParser(
        packet_in packet,
        out pe_pass_headers_t hdr,
        out tna_pe_meta_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    Checksum() options_checksum;

    state start {
        packet.extract(eg_intr_md);
        transition select(packet.lookahead<bit<8>>(), eg_intr_md.egress_port) {
            (PassType.MIRROR, _): parse_copy;
            (_, CPU_PORT): parse_bridge_to_cpu;
            default: parse_bridge;
        }
    }

    state parse_copy {
        packet.extract(hdr.copy);
        transition accept;
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
        packet.extract(hdr.pe.ethernet);
        transition select(hdr.pe.ethernet.ether_type) {
            EtherType.VLAN: parse_vlan;
            EtherType.IPV4: choose_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }
    state parse_vlan {
        packet.extract(hdr.pe.vlan);
        transition select(hdr.pe.vlan.ether_type) {
            EtherType.IPV4: choose_ipv4;
            EtherType.IPV6: parse_ipv6;
            default: accept;
        }
    }

    // The chip parses at least 65 octets here, and adds what it skips behind the header to the sum of a
    // checksum that is under way: a header without options has none.
    state choose_ipv4 {
        transition select(packet.lookahead<bit<8>>()) {
            0x45: parse_ipv4;
            default: parse_ipv4_with_options;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.pe.ipv4);
        transition accept;
    }
    state parse_ipv4_with_options {
        packet.extract(hdr.pe.ipv4);
        options_checksum.subtract({ hdr.pe.ipv4 });
        md.ipv4_options_sum = options_checksum.get();
        transition accept;
    }
    state parse_ipv6 {
        packet.extract(hdr.pe.outer_ipv6);
        transition accept;
    }
}

control PeEgressDeparser(
        packet_out packet,
        inout pe_pass_headers_t hdr,
        in tna_pe_meta_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
    Checksum() ipv4_checksum;

    apply {
        if (eg_dprsr_md.mirror_type == MIRROR_COPY) {
            mirror.emit<copy_h>(
                md.mirror_session,
                { md.mirror.pass, md.mirror.kind, md.mirror.pad0, md.mirror.level, md.mirror.pad1,
                  md.mirror.label });
        }
        hdr.pe.ipv4.checksum = ipv4_checksum.update({
            hdr.pe.ipv4.version, hdr.pe.ipv4.ihl, hdr.pe.ipv4.dscp, hdr.pe.ipv4.ecn,
            hdr.pe.ipv4.total_len, hdr.pe.ipv4.identification, hdr.pe.ipv4.flags,
            hdr.pe.ipv4.frag_offset, hdr.pe.ipv4.ttl, hdr.pe.ipv4.protocol, hdr.pe.ipv4.src,
            hdr.pe.ipv4.dst, md.ipv4_options_sum });
        packet.emit(hdr.copy);
        packet.emit(hdr.pe.ethernet);
        packet.emit(hdr.pe.vlan);
        packet.emit(hdr.pe.outer_ipv6);
        packet.emit(hdr.pe.ipv4);
    }
}

#endif
