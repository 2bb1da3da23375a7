// Provider edge (PE) for BMv2. Contents, in the order in which a packet is processed:
//
//   PortRole            DC or core port; VRF of a customer
//   DomainMode          notifications sent and translated by this node
//   NotificationPort    Fast CNP?
//   CustomerPacket      fields of the customer's packet for later controls
//   Gateway             ARP and neighbour discovery for the gateways of customers
//   UnderlayLookup      from the WAN: Endpoint, ServiceSid, TrustBoundary; FlowByLabel or TunnelVrf
//   Arrival             class of the packet, then the forwarding decision
//   TunnelDecap         the underlay headers are removed; EcnDecap
//   SenderNotification  both rate limits, CnpGenerator, Icrc
//   VrfRouting, VlanTag the customer's routes
//   FlowTable, Report   flow label; learning
//   TunnelEncap         into the WAN
//   Srv6End             next segment
//   Underlay            the WAN's routes, ECMP
//   QueueLevel          egress: mark, own congestion -> copy -> SenderNotification
#include "externs.p4"
#include "../common/base/sizes.p4"
#include "../common/base/types.p4"
#include "../common/pe/headers.p4"
#include "../common/pe/metadata.p4"
#include "../common/pe/digests.p4"
#include "../common/base/port_role.p4"
#include "../common/base/notification_port.p4"
#include "../common/base/endpoint.p4"
#include "../common/pe/trust_boundary.p4"
#include "../common/pe/service_sid.p4"
#include "../common/pe/tunnel_vrf.p4"
#include "../common/pe/flow_by_label.p4"
#include "../common/pe/underlay_lookup.p4"
#include "../common/pe/customer_packet.p4"
#include "../common/pe/gateway.p4"
#include "../common/pe/packet_class.p4"
#include "../common/pe/customer_arrival.p4"
#include "../common/base/wan_arrival.p4"
#include "../common/pe/notification_arrival.p4"
#include "../common/pe/tunnel_arrival.p4"
#include "../common/pe/arrival.p4"
#include "../common/base/domain_mode.p4"
#include "../common/pe/cnp_profile.p4"
#include "../common/pe/cnp_generator.p4"
#include "../common/pe/tunnel_decap.p4"
#include "../common/pe/ecn_decap.p4"
#include "../common/pe/vrf_routing.p4"
#include "../common/pe/vlan_tag.p4"
#include "../common/pe/flow_table.p4"
#include "../common/pe/flow_learning.p4"
#include "../common/pe/tunnel_encap.p4"
#include "../common/base/srv6_end.p4"
#include "../common/base/underlay.p4"
#include "../common/base/rate_limits.p4"
#include "../common/base/queue_level.p4"
#include "../common/base/ecn_mark.p4"
#include "../common/base/srv6_parser.p4"
#include "../common/pe/tunnel_parser.p4"
#include "../common/pe/roce_parser.p4"
#include "../common/pe/neighbor_parser.p4"
#include "underlay_length.p4"
#include "frame_length.p4"
#include "flow_gate.p4"
#include "ipv4_checksum.p4"
#include "entropy.p4"
#include "icrc.p4"
#include "fast_cnp_checksum.p4"
#include "cnp_udp_checksum.p4"
#include "sender_notification.p4"
#include "report.p4"
#include "solicitation_parser.p4"
#include "pe_parser.p4"

// When the last copy of a packet in a congested queue was made, in microseconds: BMv2 has no time of arrival for what
// is processed a second time.
register<bit<48>, bit<1>>(1) copy_time;

control PeVerifyChecksum(inout pe_headers_t hdr, inout pe_meta_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        // RFC 4443 section 2.3
        verify_checksum(
            hdr.neighbor.nd.isValid() && !hdr.neighbor.nd_option.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
        verify_checksum(
            hdr.neighbor.nd.isValid() && hdr.neighbor.nd_option.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target,
              hdr.neighbor.nd_option.type, hdr.neighbor.nd_option.length, hdr.neighbor.nd_option.mac },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
    }
}

control PeIngress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".drops")
    counter<DropReason>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) drops;
    @name(".punts")
    counter<PuntReason>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) punts;
    @name(".events")
    counter<Event>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) events;
    @name(".notifications_received")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_received;
    @name(".notifications_sent")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_sent;
    @name(".port_rx")
    counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_rx;
    @name(".vrf_refused")
    counter<vrf_cell_t>(VRF_CELLS, CounterType.packets_and_bytes) vrf_refused;

    PortRole() port_role;
    NotificationPort() notification_port;
    FrameLength() frame_length;
    CutFrame() cut_frame;
    FastCnpChecksum() fast_cnp_checksum;
    DomainMode() domain_mode;
    CustomerPacket() customer_packet;
    Gateway() gateway;
    Advertisement() advertisement;
    UnderlayLookup() underlay_lookup;
    Arrival() arrival;
    TunnelDecap() tunnel_decap;
    SenderNotification() sender_notification;
    EcnDecap() ecn_decap;
    VrfRouting() vrf_routing;
    VlanTag() vlan_tag;
    Ipv4Checksum() ipv4_checksum;
    CustomerRewrite() customer_rewrite;
    Entropy() entropy;
    FlowTable() flow_table;
    FlowLearning() flow_learning;
    Report() report;
    TunnelEncap() tunnel_encap;
    Srv6End() srv6_end;
    Underlay() underlay;
    PuntLimit() punt_limit;
    ReportNeighbor() report_neighbor;

    // On a core port, the packet parsed as a customer's packet is an underlay packet.
    action take_as_underlay() {
        hdr.outer_ipv6 = hdr.ipv6;
        hdr.ipv6.setInvalid();
    }

    action finish_at_cpu() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = meta.base.ingress_port;
        hdr.packet_in.reason = meta.base.punt_reason;
        hdr.packet_in.vlan_id = (bit<16>)meta.base.vlan_id;
        hdr.packet_in.vrf = meta.base.vrf;
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }

        bit<48> now = standard_metadata.ingress_global_timestamp;
        // Also used in egress
        domain_mode.apply(meta.base);
        if (meta.base.copy_kind != NotificationKind.NONE) {
            meta.notify_label = meta.base.copy_label;
            copy_time.read(now, 0);
        } else {
            if (meta.flat == 0) {
                meta.base.ingress_port = standard_metadata.ingress_port;
                port_rx.count(meta.base.ingress_port);
            }
            if (hdr.vlan.isValid()) {
                meta.base.vlan_id = hdr.vlan.vlan_id;
            }
            port_role.apply(meta.base);

            if (meta.base.role == Role.DC && hdr.outer_ipv6.isValid()) {
                // The customer's own tunnel: parse again as a customer packet.
                meta.flat = 1;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }

            if (standard_metadata.parser_error != error.NoError) {
                meta.parse_failed = true;
            }
            if (standard_metadata.checksum_error == 1) {
                meta.ipv4_checksum_failed = true;
            } else {
                meta.solicitation_sound = true;
            }
            if (meta.base.drop_reason == DropReason.NONE) {
                frame_length.apply(hdr, standard_metadata.packet_length, meta.base);
            }
            if (hdr.vlan.isValid()) {
                hdr.ethernet.ether_type = hdr.vlan.ether_type;
                hdr.vlan.setInvalid();
            }
            if (hdr.ipv4.isValid()) {
                // Neither ARP nor a notification
            } else if (!hdr.ipv6.isValid()) {
                meta.base.is_arp = hdr.ethernet.ether_type == EtherType.ARP;
            } else if (!hdr.outer_ipv6.isValid() && hdr.udp.isValid() && !hdr.roce.bth.isValid()) {
                notification_port.apply(hdr.udp.dst_port, meta.base);
                if (hdr.fast_cnp.isValid()
                        && meta.base.notification_kind == NotificationKind.FAST_CNP) {
                    bit<16> checksum;
                    fast_cnp_checksum.apply(hdr.ipv6, hdr.udp, hdr.fast_cnp, checksum);
                    meta.fast_cnp_sound = checksum == hdr.udp.checksum
                        && hdr.ipv6.payload_len == FAST_CNP_UDP_LENGTH;
                    meta.notify_label = hdr.fast_cnp.word[31:12];
                }
            }

            if (meta.base.role == Role.CORE) {
                if (!hdr.outer_ipv6.isValid() && hdr.ipv6.isValid()) {
                    take_as_underlay();
                }
                if (hdr.outer_ipv6.isValid()) {
                    meta.base.is_malformed = hdr.outer_ipv6.version != 6;
                } else {
                    meta.base.is_malformed = meta.parse_failed;
                }
            }
        }

        if (meta.base.drop_reason == DropReason.NONE) {
            customer_packet.apply(hdr, meta);
            gateway.apply(hdr, meta);
            advertisement.apply(hdr, meta);
            if (hdr.outer_ipv6.isValid()) {
                underlay_lookup.apply(hdr, meta);
            }
            arrival.apply(hdr, meta);
            if (meta.answered) {
                events.count(meta.event);
                vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
            }
        }

        if (meta.base.forward == Forward.VRF && meta.base.drop_reason == DropReason.NONE) {
            if (hdr.outer_ipv6.isValid()) {
                tunnel_decap.apply(hdr, meta);
                if (!meta.make_cnp) {
                    ecn_decap.apply(meta);
                }
                if (meta.event != Event.NONE) {
                    events.count(meta.event);
                }
                if (meta.packet_class == PacketClass.NOTIFICATION) {
                    notifications_received.count(meta.base.notification_kind);
                }
            }
            if (meta.make_cnp) {
                sender_notification.apply(hdr, meta, now);
            }
            if (meta.base.drop_reason == DropReason.NONE) {
                vrf_routing.apply(hdr.ipv4, hdr.ipv6, hdr.ethernet, meta);
                vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
            }
            if (meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE && !meta.make_cnp) {
                if (meta.hop_limit <= 1) {
                    meta.base.drop_reason = DropReason.TTL_EXPIRED;
                } else {
                    if (hdr.ipv4.isValid()) {
                        ipv4_checksum.apply(
                            hdr.ipv4.checksum, hdr.ipv4.ecn, (bit<2>)meta.customer_ecn, TTL_STEP);
                    }
                    customer_rewrite.apply(hdr.ipv4, hdr.ipv6, meta);
                }
            }
        }

        if (meta.base.forward == Forward.TUNNEL && meta.base.drop_reason == DropReason.NONE) {
            flow_table.apply(hdr.ipv4, hdr.ipv6, hdr.roce.bth, meta);
            if (meta.base.role == Role.DC
                    && (meta.cm.is_valid || (meta.is_roce_flow
                        && (!meta.flow_label_assigned || meta.flow_watched)))) {
                flow_learning.apply(meta);
                if (meta.learning_enabled == 1) {
                    bool refused;
                    report.apply(
                        hdr, meta, standard_metadata.ingress_global_timestamp, refused);
                    if (refused) {
                        vrf_refused.count(VRF_CELL(meta.base.vrf));
                    }
                }
            }
            tunnel_encap.apply(hdr, meta);
            // The hash is expensive here, and not needed for a labelled flow in SRv6 or GRE.
            if (!meta.flow_label_assigned || hdr.tunnel.udp.isValid()) {
                entropy.apply(hdr, meta);
                if (!meta.flow_label_assigned) {
                    hdr.outer_ipv6.flow_label = meta.entropy[19:0] & ENTROPY_LABEL_MASK;
                }
                if (hdr.tunnel.udp.isValid()) {
                    hdr.tunnel.udp.src_port = meta.entropy[15:0] | ENTROPY_PORTS;
                }
            }
        }

        if (meta.base.destination == Destination.END_SID && meta.base.forward == Forward.UNDERLAY) {
            srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
        }
        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta.base);
        }

        if (meta.base.drop_reason == DropReason.NONE
                && (meta.base.punt_reason != PuntReason.NONE || meta.answered)) {
            color_t punt_color = GREEN;
            punt_limit.apply(meta.base.vrf, punt_color);
            if (punt_color != GREEN) {
                vrf_refused.count(VRF_CELL(meta.base.vrf));
                if (!meta.answered) {
                    meta.base.drop_reason = DropReason.PUNT_RATE_LIMIT;
                }
            } else if (meta.answered) {
                report_neighbor.apply(hdr, meta);
            }
        }
        if (meta.base.drop_reason != DropReason.NONE) {
            if (meta.base.drop_reason == DropReason.TRANSLATION_DISABLED) {
                notifications_received.count(meta.base.notification_kind);
            }
            drops.count(meta.base.drop_reason);
            mark_to_drop(standard_metadata);
        } else if (meta.base.punt_reason != PuntReason.NONE) {
            punts.count(meta.base.punt_reason);
            finish_at_cpu();
        } else {
            standard_metadata.egress_spec = meta.base.egress_port;
            if (meta.make_cnp) {
                notifications_sent.count(NotificationKind.CNP);
                cut_frame.apply(hdr);
            }
        }
    }
}

control PeEgress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".ecn_marked")
    counter<Ecn>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) ecn_marked;
    @name(".notifications_triggered")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_triggered;
    @name(".flow_interval_suppressed")
    counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) flow_interval_suppressed;
    @name(".port_tx")
    counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_tx;

    QueueLevel() queue_level;
    EcnMark() ecn_mark_outer;
    EcnMark() ecn_mark_ipv4;
    EcnMark() ecn_mark_ipv6;
    Ipv4Checksum() ipv4_checksum;
    FlowGate() own_congestion_gate;
    CnpUdpChecksum() cnp_udp_checksum;

    apply {
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            recirculate_preserving_field_list(KEEP_COPY);
        } else {
            if (standard_metadata.egress_port != CPU_PORT) {
                port_tx.count(standard_metadata.egress_port);
                queue_level.apply(
                    standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                    standard_metadata.deq_qdepth, meta.base);
            }

            if (meta.base.level_mark != Ecn.NOT_ECT && !meta.make_cnp) {
                bool marked = false;
                if (hdr.outer_ipv6.isValid()) {
                    ecn_mark_outer.apply(hdr.outer_ipv6.ecn, meta.base.level_mark, marked);
                } else if (hdr.ipv4.isValid()) {
                    bit<2> ecn = hdr.ipv4.ecn;
                    ecn_mark_ipv4.apply(hdr.ipv4.ecn, meta.base.level_mark, marked);
                    if (marked) {
                        ipv4_checksum.apply(hdr.ipv4.checksum, ecn, hdr.ipv4.ecn, 0);
                    }
                } else if (hdr.ipv6.isValid()) {
                    ecn_mark_ipv6.apply(hdr.ipv6.ecn, meta.base.level_mark, marked);
                }
                if (marked) {
                    ecn_marked.count(meta.base.level_mark);
                }
            }

            // FCN-12: this node is the ingress PE of the flow, so it sends the CNP itself.
            if (meta.base.level_notifies == 1 && meta.flow_label_assigned
                    && meta.customer_ecn != Ecn.NOT_ECT
                    && meta.base.mode.congestion_kind != NotificationKind.NONE) {
                bool pass = false;
                NotificationKind kind = meta.base.mode.congestion_kind;
                own_congestion_gate.apply(
                    meta.flow_label, meta.base.level_interval,
                    standard_metadata.egress_global_timestamp, pass);
                if (pass) {
                    notifications_triggered.count(kind);
                    meta.base.copy_kind = meta.base.mode.congestion_kind;
                    meta.base.copy_label = meta.flow_label;
                    meta.base.copy_level = meta.base.level;
                    copy_time.write(0, standard_metadata.egress_global_timestamp);
                    clone_preserving_field_list(
                        CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
                } else {
                    flow_interval_suppressed.count(kind);
                }
            }

            if (meta.make_cnp && hdr.ipv6.isValid()) {
                cnp_udp_checksum.apply(hdr);
            }
        }
    }
}

control PeComputeChecksum(inout pe_headers_t hdr, inout pe_meta_t meta) {
    apply {
        update_checksum(
            meta.answered && hdr.neighbor.nd.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target,
              hdr.neighbor.nd_option.type, hdr.neighbor.nd_option.length, hdr.neighbor.nd_option.mac },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
        // Other IPv4 checksums are updated where the header changes.
        update_checksum(
            meta.make_cnp && hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

V1Switch(
    PeParser(), PeVerifyChecksum(), PeIngress(), PeEgress(), PeComputeChecksum(), PeDeparser()) main;
