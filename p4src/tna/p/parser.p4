// Parsers and deparsers of the transit node: underlay headers only.
#ifndef FCN_P_PARSER_P4
#define FCN_P_PARSER_P4

parser PIngressParser(
        packet_in packet,
        out p_pass_headers_t hdr,
        out tna_p_meta_t md,
        out ingress_intrinsic_metadata_t ig_intr_md) {
    SrhParser() srh_parser;
    NeighborDiscoveryParser() neighbor_discovery_parser;
#if HAS_LINKS
    Checksum() bfd_checksum;
#endif

    state start {
        packet.extract(ig_intr_md);
        packet.advance(PORT_METADATA_SIZE);
        md.meta.base.is_nd = false;
        md.meta.base.is_malformed = false;
        md.meta.base.copy_kind = NotificationKind.NONE;
        md.udp_dst_port = 0;
        md.meta.base.ingress_port = ig_intr_md.ingress_port;
#if HAS_LINKS
        md.links.port = ig_intr_md.ingress_port;
#endif
        transition select(ig_intr_md.ingress_port) {
            CPU_PORT: parse_packet_out;
#if HAS_FANTEL
            RECIRC_PORT: choose_clock;
#else
            RECIRC_PORT: parse_copy;
#endif
            default: parse_ethernet;
        }
    }
#if HAS_FANTEL
    state choose_clock {
        transition select(packet.lookahead<bit<8>>()) {
            PassType.MIRROR &&& 0xfe: parse_copy;
            default: parse_clock;
        }
    }
    state parse_clock {
        packet.extract(hdr.p.ethernet);
        packet.extract(hdr.clock);
        md.links.has_slot = 1;
        md.links.slot = hdr.clock.slot;
        transition accept;
    }
#endif
#if HAS_LINKS
    // The egress left room for the underlay header.
    state parse_hello {
        md.links.has_slot = 1;
        packet.extract(hdr.p.ethernet);
        packet.extract(hdr.p.outer_ipv6);
        hdr.p.tunnel.udp.setValid();
        hdr.p.bfd.setValid();
        transition accept;
    }
#endif

    state parse_packet_out {
        packet.extract(hdr.p.packet_out);
        transition accept;
    }

    // Second pass: the egress has built the notification.
    state parse_copy {
        packet.extract(hdr.copy);
#if HAS_FLOW_CONTROL
        packet.extract(hdr.arrival);
        transition select(hdr.copy.kind) {
            NotificationKind.ARN: parse_arn;
            default: parse_fast_cnp;
        }
    }
    state parse_arn {
        md.meta.base.copy_kind = NotificationKind.ARN;
        md.meta.base.egress_port = hdr.arrival.port;
        transition parse_ethernet;
    }
    state parse_fast_cnp {
#endif
#if HAS_LINKS
        md.meta.base.copy_kind = hdr.copy.kind;
        md.links.slot = hdr.copy.label[15:0];
        transition select(hdr.copy.kind) {
            NotificationKind.HELLO: parse_hello;
            default: parse_message;
        }
    }
    state parse_message {
#elif HAS_FANTEL
        md.meta.base.copy_kind = hdr.copy.kind;
#else
        md.meta.base.copy_kind = NotificationKind.FAST_CNP;
#endif
        md.meta.base.forward = Forward.UNDERLAY;
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.p.ethernet);
        transition select(hdr.p.ethernet.ether_type) {
            EtherType.IPV6: parse_outer_ipv6;
            EtherType.ARP: parse_arp;
            default: accept;
        }
    }
    state parse_arp {
        md.meta.base.is_arp = true;
        transition accept;
    }

    state parse_outer_ipv6 {
        packet.extract(hdr.p.outer_ipv6);
#if HAS_LINKS
        bfd_checksum.subtract({ hdr.p.outer_ipv6.payload_len, hdr.p.outer_ipv6.src, hdr.p.outer_ipv6.dst });
#endif
        transition select(hdr.p.outer_ipv6.version, hdr.p.outer_ipv6.next_header) {
            (6, IpProtocol.ROUTING): parse_srh;
            (6, IpProtocol.UDP): parse_outer_udp;
            (6, IpProtocol.ICMPV6): parse_icmpv6;
            (6, _): accept;
            default: bad_version;
        }
    }
    state bad_version {
        md.meta.base.is_malformed = true;
        transition accept;
    }

    state parse_srh {
        srh_parser.apply(packet, hdr.p.srv6);
        transition accept;
    }

    state parse_icmpv6 {
        neighbor_discovery_parser.apply(packet, hdr.p.outer_ipv6, md.meta.base.is_nd);
        transition accept;
    }

    state parse_outer_udp {
        md.udp_dst_port = packet.lookahead<udp_h>().dst_port;
#if HAS_ARRIVAL
        md.ports = packet.lookahead<bit<32>>();
#endif
#if HAS_LINKS
        transition select(packet.lookahead<bit<32>>()[15:0]) {
            UdpPort.BFD: parse_bfd;
            default: accept;
        }
    }
    state parse_bfd {
        packet.extract(hdr.p.tunnel.udp);
        packet.extract(hdr.p.bfd);
        bfd_checksum.subtract({ hdr.p.tunnel.udp, hdr.p.bfd });
        md.links.sum = bfd_checksum.get();
#endif
        transition accept;
    }
}

control PIngressDeparser(
        packet_out packet,
        inout p_pass_headers_t hdr,
        in tna_p_meta_t md,
        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
#if HAS_LINKS
    Checksum() hello_checksum;
#endif

    apply {
#if HAS_LINKS
        if (hdr.p.hello.isValid()) {
            hdr.p.tunnel.udp.checksum = hello_checksum.update(
                { hdr.p.outer_ipv6.src, hdr.p.outer_ipv6.dst, hdr.p.tunnel.udp.length, 8w0, hdr.p.outer_ipv6.next_header,
                  hdr.p.tunnel.udp.src_port, hdr.p.tunnel.udp.dst_port, hdr.p.tunnel.udp.length,
                  hdr.p.bfd.version, hdr.p.bfd.diagnostic, hdr.p.bfd.state, hdr.p.bfd.flags,
                  hdr.p.bfd.detect_multiplier, hdr.p.bfd.length, hdr.p.bfd.my_discriminator,
                  hdr.p.bfd.your_discriminator, hdr.p.bfd.desired_min_tx, hdr.p.bfd.required_min_rx,
                  hdr.p.bfd.required_min_echo_rx },
                true);
        }
#endif
        packet.emit(hdr.bridge);
#if HAS_ARRIVAL
        packet.emit(hdr.arrival);
#endif
        packet.emit(hdr.p.packet_in);
        packet.emit(hdr.p.ethernet);
#if HAS_FANTEL
        packet.emit(hdr.clock);
#endif
        packet.emit(hdr.p.outer_ipv6);
        packet.emit(hdr.p.srv6.srh);
        packet.emit(hdr.p.srv6.segment0);
        packet.emit(hdr.p.srv6.segment1);
        packet.emit(hdr.p.srv6.segment2);
        packet.emit(hdr.p.srv6.segment3);
#if HAS_LINKS
        packet.emit(hdr.p.tunnel.udp);
        packet.emit(hdr.p.bfd);
#endif
    }
}

parser PEgressParser(
        packet_in packet,
        out p_pass_headers_t hdr,
        out tna_p_meta_t md,
        out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        packet.extract(eg_intr_md);
        md.meta.base.copy_kind = NotificationKind.NONE;
        md.meta.base.copy_level = 0;
        transition select(packet.lookahead<bit<8>>(), eg_intr_md.egress_port) {
            (PassType.MIRROR, _): parse_copy;
#if HAS_FANTEL
            (PassType.MIRROR_OF_CLOCK, _): parse_copy_of_clock;
            (PassType.CLOCK, _): parse_clock;
#endif
            (_, CPU_PORT): parse_bridge_to_cpu;
            default: parse_bridge;
        }
    }

    // The mirror session cuts the copy behind the IPv6 header.
    state parse_copy {
        packet.extract(hdr.copy);
        md.meta.base.copy_level = hdr.copy.level;
#if HAS_ARRIVAL
        md.meta.base.copy_kind = hdr.copy.kind;
#else
        md.meta.base.copy_kind = NotificationKind.FAST_CNP;
#endif
#if HAS_FLOW_CONTROL
        packet.extract(hdr.arrival);
#elif HAS_FANTEL
        packet.extract(hdr.subject);
        packet.extract(hdr.arrival_dst);
        packet.extract(hdr.arrival_ports);
#endif
        packet.extract(hdr.p.ethernet);
        packet.extract(hdr.p.outer_ipv6);
        transition accept;
    }

#if HAS_FANTEL
    // What is behind the Ethernet header is left out: in its place comes a message.
    state parse_copy_of_clock {
        packet.extract(hdr.copy);
        md.meta.base.copy_kind = hdr.copy.kind;
        packet.extract(hdr.subject);
        packet.extract(hdr.arrival_dst);
        packet.extract(hdr.arrival_ports);
        packet.extract(hdr.p.ethernet);
        packet.advance(320);
        hdr.p.outer_ipv6.setValid();
        hdr.p.outer_ipv6.version = 6;
        transition accept;
    }
    state parse_clock {
        packet.extract(hdr.bridge);
        packet.extract(hdr.arrival);
        packet.extract(hdr.p.ethernet);
        packet.extract(hdr.clock);
        transition accept;
    }
#endif

    state parse_bridge_to_cpu {
        packet.extract(hdr.bridge);
#if HAS_ARRIVAL
        packet.extract(hdr.arrival);
#endif
        transition accept;
    }

    state parse_bridge {
        packet.extract(hdr.bridge);
#if HAS_ARRIVAL
        packet.extract(hdr.arrival);
#endif
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
#if HAS_FANTEL
        // Its tag names the path.
        transition select(hdr.p.outer_ipv6.next_header) {
            IpProtocol.ROUTING: parse_srh;
            default: accept;
        }
    }
    state parse_srh {
        packet.extract(hdr.p.srv6.srh);
#endif
        transition accept;
    }
}

control PEgressDeparser(
        packet_out packet,
        inout p_pass_headers_t hdr,
        in tna_p_meta_t md,
        in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
    Checksum() udp_checksum;

    apply {
        if (eg_dprsr_md.mirror_type == MIRROR_COPY) {
#if HAS_ARRIVAL
            mirror.emit<told_copy_h>(
                md.mirror_session,
                { md.mirror.pass, md.mirror.kind, md.mirror.pad0, md.mirror.level, md.mirror.pad1,
                  md.mirror.label, SUBJECT_OF(hdr.arrival), hdr.arrival.dst,
                  hdr.arrival.ports });
#else
            mirror.emit<copy_h>(
                md.mirror_session,
                { md.mirror.pass, md.mirror.kind, md.mirror.pad0, md.mirror.level, md.mirror.pad1,
                  md.mirror.label });
#endif
        }
        // Only notifications have their UDP header here; they are no tunnels, so the checksum is mandatory (FCN-9).
        hdr.p.tunnel.udp.checksum = udp_checksum.update(
            { hdr.p.outer_ipv6.src, hdr.p.outer_ipv6.dst, hdr.p.tunnel.udp.length,
              8w0, hdr.p.outer_ipv6.next_header, hdr.p.tunnel.udp.src_port,
              hdr.p.tunnel.udp.dst_port, hdr.p.tunnel.udp.length, hdr.p.fast_cnp.word
#if HAS_FLOW_CONTROL
              , hdr.p.arn.arn.type, hdr.p.arn.arn.version, hdr.p.arn.arn.reserved, hdr.p.arn.arn.metric,
              hdr.p.arn.arn.para_type, hdr.p.five_tuple.head.ip_version, hdr.p.five_tuple.head.label,
              hdr.p.five_tuple.head.protocol, hdr.p.five_tuple.ipv6.src, hdr.p.five_tuple.ipv6.dst,
              hdr.p.five_tuple.ports.src_port, hdr.p.five_tuple.ports.dst_port, hdr.p.arn.time.time
#endif
#if HAS_FANTEL
              , hdr.p.fantel.about.first_word, hdr.p.fantel.about.tlv_origin, hdr.p.fantel.about.node,
              hdr.p.fantel.about.link, hdr.p.fantel.about.epoch, hdr.p.fantel.about.sequence,
              hdr.p.fantel.about.tlv_path, hdr.p.fantel.about.path_id,
              hdr.tuple_tlv.tlv, hdr.p.five_tuple.head.ip_version, hdr.p.five_tuple.head.label,
              hdr.p.five_tuple.head.protocol, hdr.tuple_src.src, hdr.arrival_dst.dst, hdr.arrival_ports.ports,
              hdr.p.fantel.buffer.tlv, hdr.p.fantel.buffer.queue, hdr.p.fantel.buffer.level,
              hdr.p.fantel.buffer.reserved, hdr.p.fantel.buffer.depth
#endif
            },
            true);
        packet.emit(hdr.copy);
#if HAS_FLOW_CONTROL
        packet.emit(hdr.arrival);
#endif
        packet.emit(hdr.p.ethernet);
#if HAS_FANTEL
        packet.emit(hdr.clock);
#endif
        packet.emit(hdr.p.outer_ipv6);
#if HAS_FANTEL
        packet.emit(hdr.p.srv6.srh);
#endif
        packet.emit(hdr.p.tunnel.udp);
        packet.emit(hdr.p.fast_cnp);
#if HAS_FLOW_CONTROL
        packet.emit(hdr.p.arn.arn);
        packet.emit(hdr.p.five_tuple.head);
        packet.emit(hdr.p.five_tuple.ipv6);
        packet.emit(hdr.p.five_tuple.ports);
        packet.emit(hdr.p.arn.time);
#endif
#if HAS_FANTEL
        packet.emit(hdr.p.fantel.about);
        packet.emit(hdr.tuple_tlv);
        packet.emit(hdr.p.five_tuple.head);
        packet.emit(hdr.tuple_src);
        packet.emit(hdr.arrival_dst);
        packet.emit(hdr.arrival_ports);
        packet.emit(hdr.p.fantel.buffer);
#endif
    }
}

#endif
