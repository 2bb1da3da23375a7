// Provider edge (PE) for BMv2. Contents, in the order a packet meets them:
//
//   PortRole            who is on the other side; VRF of a customer
//   NotificationPort    Fast CNP?
//   UnderlayLookup      from the WAN: Endpoint, TrustBoundary; FlowByLabel or ServiceTermination
//   Arrival             what is to be done with it
//   SenderNotification  both rate limits, CnpGenerator, Icrc
//   TunnelDecap         off with the underlay; EcnDecap
//   VrfRouting, VlanTag the customer's routes
//   Srv6End             next segment
//   FlowTable, Report   flow label; learning
//   TunnelEncap         into the WAN
//   Underlay            the WAN's routes, ECMP
//   QueueLevel          egress: CE mark, own congestion -> copy -> SenderNotification
#include "externs.p4"
#include "../common/config.p4"
#include "../common/types.p4"
#include "../common/headers.p4"
#include "../common/metadata.p4"
#include "../common/digests.p4"
#include "../common/port_role.p4"
#include "../common/trust_boundary.p4"
#include "../common/endpoint.p4"
#include "../common/srv6_end.p4"
#include "../common/service_termination.p4"
#include "../common/tunnel_decap.p4"
#include "../common/ecn_decap.p4"
#include "../common/flow_by_label.p4"
#include "../common/underlay_lookup.p4"
#include "../common/arrival.p4"
#include "../common/frame_length.p4"
#include "../common/customer_packet.p4"
#include "../common/cnp_generator.p4"
#include "../common/vrf_routing.p4"
#include "../common/vlan_tag.p4"
#include "../common/flow_table.p4"
#include "../common/flow_learning.p4"
#include "../common/tunnel_encap.p4"
#include "../common/queue_level.p4"
#include "../common/ce_mark.p4"
#include "flow_gate.p4"
#include "rate_limits.p4"
#include "ipv4_checksum.p4"
#include "entropy.p4"
#include "icrc.p4"
#include "fast_cnp_checksum.p4"
#include "cnp_udp_checksum.p4"
#include "sender_notification.p4"
#include "underlay.p4"
#include "report.p4"
#include "punt.p4"
#include "pe_parser.p4"

control PeVerifyChecksum(inout pe_headers_t hdr, inout meta_t meta) {
    apply {
        verify_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control PeIngress(
        inout pe_headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".drops")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) drops;
    @name(".events")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) events;
    @name(".port_rx")
    counter(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_rx;

    PortRole() port_role;
    NotificationPort() notification_port;
    FrameLength() frame_length;
    FastCnpChecksum() fast_cnp_checksum;
    UnderlayLookup() underlay_lookup;
    Arrival() arrival;
    CnpProfile() cnp_profile;
    SenderNotification() sender_notification;
    TunnelDecap() tunnel_decap;
    CustomerPacket() customer_packet;
    EcnDecap() ecn_decap;
    Srv6End() srv6_end;
    VrfRouting() vrf_routing;
    VlanTag() vlan_tag;
    Ipv4Checksum() ipv4_checksum;
    CustomerRewrite() customer_rewrite;
    Entropy() entropy;
    FlowTable() flow_table;
    FlowLearning() flow_learning;
    Report() report;
    TunnelEncap() tunnel_encap;
    Underlay() underlay;
    Punt() punt;

    // What the parser took for a customer packet is the underlay's on a core port.
    action take_as_underlay() {
        hdr.outer_ipv6 = hdr.ipv6;
        hdr.ipv6.setInvalid();
    }

    action finish_at_cpu() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = meta.ingress_port;
        hdr.packet_in.reason = meta.punt_reason;
        hdr.packet_in.vlan_id = (bit<16>)meta.vlan_id;
        hdr.packet_in.vrf = meta.vrf;
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }

        cnp_profile.apply(meta);
        if (meta.copy == Copy.OWN_CONGESTION) {
            meta.notify_label = meta.copy_label;
        } else {
            if (meta.flat == 0) {
                meta.ingress_port = standard_metadata.ingress_port;
                port_rx.count((bit<32>)meta.ingress_port);
            }
            if (hdr.vlan.isValid()) {
                meta.vlan_id = hdr.vlan.vlan_id;
            }
            port_role.apply(meta);

            if (meta.role == Role.DC && hdr.outer_ipv6.isValid()) {
                // The customer's own tunnel: parse again as what it is.
                meta.flat = 1;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }

            meta.parse_failed = standard_metadata.parser_error != error.NoError;
            meta.unsupported_tunnel = standard_metadata.parser_error == error.UnsupportedTunnel;
            meta.ipv4_checksum_failed = standard_metadata.checksum_error == 1;
            frame_length.apply(hdr, standard_metadata.packet_length, meta);
            if (hdr.vlan.isValid()) {
                hdr.ethernet.ether_type = hdr.vlan.ether_type;
                hdr.vlan.setInvalid();
            }
            meta.is_arp = hdr.ethernet.ether_type == EtherType.ARP;
            if (!hdr.outer_ipv6.isValid() && hdr.ipv6.isValid() && hdr.udp.isValid()) {
                meta.udp_dst_port = hdr.udp.dst_port;
                if (hdr.fast_cnp.isValid()) {
                    bit<16> checksum;
                    fast_cnp_checksum.apply(hdr.ipv6, hdr.udp, hdr.fast_cnp, checksum);
                    meta.fast_cnp_sound = checksum == hdr.udp.checksum
                        && hdr.ipv6.payload_len == FAST_CNP_UDP_LENGTH;
                    meta.notify_label = hdr.fast_cnp.word[31:12];
                }
            }
            notification_port.apply(meta);

            if (meta.role == Role.CORE) {
                if (!hdr.outer_ipv6.isValid() && hdr.ipv6.isValid()) {
                    take_as_underlay();
                }
                meta.bad_version = hdr.outer_ipv6.isValid() && hdr.outer_ipv6.version != 6;
            }
        }

        if (meta.drop_reason == DropReason.NONE) {
            customer_packet.apply(hdr, meta);
            if (hdr.outer_ipv6.isValid()) {
                underlay_lookup.apply(hdr, meta);
            }
            arrival.apply(hdr, meta);
        }
        if (meta.event != Event.NONE) {
            events.count((bit<32>)(bit<8>)meta.event);
        }

        if (meta.forward == Forward.VRF && hdr.outer_ipv6.isValid()) {
            tunnel_decap.apply(hdr, meta);
        }
        if (meta.make_cnp) {
            sender_notification.apply(hdr, meta, standard_metadata.ingress_global_timestamp);
        }

        if (meta.forward == Forward.VRF && meta.drop_reason == DropReason.NONE) {
            if (meta.decapsulated && !meta.make_cnp) {
                ecn_decap.apply(meta);
                if (meta.event != Event.NONE) {
                    events.count((bit<32>)(bit<8>)meta.event);
                }
            }
            if (meta.drop_reason == DropReason.NONE) {
                vrf_routing.apply(hdr.ipv4, hdr.ipv6, hdr.ethernet, meta);
                vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
            }
            if (meta.drop_reason == DropReason.NONE && meta.punt_reason == PuntReason.NONE
                    && !meta.make_cnp) {
                if (meta.hop_limit <= 1) {
                    meta.drop_reason = DropReason.TTL_EXPIRED;
                } else {
                    if (hdr.ipv4.isValid()) {
                        ipv4_checksum.apply(
                            hdr.ipv4.checksum, hdr.ipv4.ecn, (bit<2>)meta.customer_ecn, TTL_STEP);
                    }
                    customer_rewrite.apply(hdr.ipv4, hdr.ipv6, meta);
                }
            }
        }

        if (meta.forward == Forward.TUNNEL && meta.drop_reason == DropReason.NONE) {
            entropy.apply(hdr, meta);
            meta.flow_label = meta.entropy[19:0] & ENTROPY_LABEL_MASK;
            flow_table.apply(hdr.ipv4, hdr.ipv6, hdr.bth, meta);
            if (meta.role == Role.DC) {
                Event reported;
                flow_learning.apply(meta);
                report.apply(hdr, meta, standard_metadata.ingress_global_timestamp, reported);
                if (reported != Event.NONE) {
                    events.count((bit<32>)(bit<8>)reported);
                }
            }
            tunnel_encap.apply(hdr, meta);
        }

        if (meta.is_end_sid && meta.forward == Forward.UNDERLAY) {
            srv6_end.apply(
                hdr.outer_ipv6, hdr.srh, hdr.segment0, hdr.segment1, hdr.segment2, hdr.segment3,
                meta.drop_reason);
        }
        if (meta.forward == Forward.UNDERLAY && meta.drop_reason == DropReason.NONE) {
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta);
        }

        punt.apply(meta);
        if (meta.drop_reason != DropReason.NONE) {
            drops.count((bit<32>)(bit<8>)meta.drop_reason);
            mark_to_drop(standard_metadata);
        } else if (meta.punt_reason != PuntReason.NONE) {
            events.count((bit<32>)(bit<8>)Event.PUNTED);
            finish_at_cpu();
        } else {
            standard_metadata.egress_spec = meta.egress_port;
            if (meta.make_cnp) {
                events.count((bit<32>)(bit<8>)Event.CNP_SENT);
                truncate(meta.frame_length);
            }
        }
    }
}

control PeEgress(
        inout pe_headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    @name(".egress_events")
    counter(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) egress_events;
    @name(".port_tx")
    counter(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_tx;

    QueueLevel() queue_level;
    CeMark() ce_mark_outer;
    CeMark() ce_mark_ipv4;
    CeMark() ce_mark_ipv6;
    Ipv4Checksum() ipv4_checksum;
    FlowGate() own_congestion_gate;
    CnpUdpChecksum() cnp_udp_checksum;

    apply {
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            recirculate_preserving_field_list(KEEP_COPY);
        } else {
            bool marked = false;
            bool pass = false;

            if (standard_metadata.egress_port != CPU_PORT) {
                port_tx.count((bit<32>)standard_metadata.egress_port);
                queue_level.apply(
                    standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                    standard_metadata.deq_qdepth, meta);
            }

            if (meta.level_marks == 1 && !meta.make_cnp) {
                if (hdr.outer_ipv6.isValid()) {
                    ce_mark_outer.apply(hdr.outer_ipv6.ecn, marked);
                } else if (hdr.ipv4.isValid()) {
                    bit<2> ecn = hdr.ipv4.ecn;
                    ce_mark_ipv4.apply(hdr.ipv4.ecn, marked);
                    if (marked) {
                        ipv4_checksum.apply(hdr.ipv4.checksum, ecn, (bit<2>)Ecn.CE, 0);
                    }
                } else if (hdr.ipv6.isValid()) {
                    ce_mark_ipv6.apply(hdr.ipv6.ecn, marked);
                }
                if (marked) {
                    egress_events.count((bit<32>)(bit<8>)Event.CE_MARKED);
                }
            }

            // FCN-12: this node is the ingress PE of the flow, so it tells the sender itself.
            if (meta.level_notifies == 1 && meta.notify_enabled == 1 && meta.flow_label_assigned
                    && meta.customer_ecn != Ecn.NOT_ECT) {
                own_congestion_gate.apply(
                    meta.flow_label, meta.level_interval,
                    standard_metadata.egress_global_timestamp, pass);
                if (pass) {
                    egress_events.count((bit<32>)(bit<8>)Event.NOTIFICATION_TRIGGERED);
                    meta.copy = Copy.OWN_CONGESTION;
                    meta.copy_label = meta.flow_label;
                    meta.copy_level = meta.level;
                    clone_preserving_field_list(
                        CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
                } else {
                    egress_events.count((bit<32>)(bit<8>)Event.FLOW_INTERVAL_SUPPRESSED);
                }
            }

            if (meta.make_cnp && hdr.ipv6.isValid()) {
                cnp_udp_checksum.apply(hdr);
            }
        }
    }
}

control PeComputeChecksum(inout pe_headers_t hdr, inout meta_t meta) {
    apply {
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
