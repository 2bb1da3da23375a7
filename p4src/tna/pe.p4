// Provider edge (PE) for Tofino. Contents, in the order in which a packet is processed:
//
//   DomainMode          what this node does about congestion
//   CnpProfile          how its CNPs look; FlowLearning
//   NotificationPort    Fast CNP?
//   PortRole            who is on the other side; VRF of a customer
//   PortMac             for this node, or for another station?
//   CustomerPacket      what later controls need to know of the customer's packet
//   Gateway             ARP and neighbour discovery for the gateways of customers
//   UnderlayLookup      from the WAN: Endpoint, ServiceSid, TrustBoundary; FlowByLabel or TunnelVrf
//   Arrival             class of the packet, then what is done with it
//   LightNotified       light congestion ends here, in profile two-threshold (two_threshold/tna)
//   TunnelDecap         the underlay headers are removed
//   SenderNotification  both rate limits, CnpGenerator, Icrc
//   VrfRouting          the customer's routes
//   FlowTable           flow label
//   Srv6End             next segment
//   EcnDecap            the ECN field of what was in a tunnel
//   Report              learning
//   TunnelEncap         into the WAN
//   VlanTag             of a host
//   Underlay            the WAN's routes, ECMP
//   QueueLevel          egress: mark, own congestion -> copy -> SenderNotification
//   CurveMarking        a mark by chance, in profile two-threshold (two_threshold/tna)
#include "../base/tna/externs.p4"
#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../learning/digests.p4"
#include "../forwarding/port_role.p4"
#include "../forwarding/port_mac.p4"
#include "../fast_cnp/notification_port.p4"
#include "../forwarding/underlay_lookup.p4"
#include "../forwarding/customer_packet.p4"
#include "../forwarding/gateway.p4"
#include "../forwarding/arrival.p4"
#include "../forwarding/customer_arrival.p4"
#include "../forwarding/packet_class.p4"
#include "../fast_cnp/domain_mode.p4"
#include "../fast_cnp/cnp_profile.p4"
#include "../fast_cnp/cnp_generator.p4"
#include "../forwarding/tunnel_decap.p4"
#include "../forwarding/ecn_decap.p4"
#include "../forwarding/vrf_routing.p4"
#include "../forwarding/vlan_tag.p4"
#include "../learning/flow_table.p4"
#include "../learning/flow_learning.p4"
#include "../forwarding/tunnel_encap.p4"
#include "../forwarding/srv6_end.p4"
#include "../forwarding/underlay.p4"
#include "../base/rate_limits.p4"
#include "../fast_cnp/queue_level.p4"
#include "../fast_cnp/ecn_mark.p4"
#include "../forwarding/srv6_parser.p4"
#include "../forwarding/tunnel_parser.p4"
#include "../learning/roce_parser.p4"
#include "../forwarding/neighbor_parser.p4"
#include "../base/tna/pass_headers.p4"
#include "pe_metadata.p4"
#include "../fast_cnp/tna/flow_gate.p4"
#include "../forwarding/tna/customer_rewrite.p4"
#include "../forwarding/tna/entropy.p4"
#include "../fast_cnp/tna/icrc.p4"
#include "../fast_cnp/tna/sender_notification.p4"
#include "../learning/tna/report.p4"
#include "pe_parser.p4"
#include "pe_egress_parser.p4"
#include "../fast_cnp/tna/fast_cnp_checksum.p4"

// A packet with `neighbor` ends here: it is answered or goes to the CPU, and never has any of these headers.
#define NEVER_WITH_NEIGHBOR(header) \
    @pa_mutually_exclusive("ingress", "hdr.pe.neighbor.arp", header) \
    @pa_mutually_exclusive("ingress", "hdr.pe.neighbor.nd", header) \
    @pa_mutually_exclusive("ingress", "hdr.pe.neighbor.nd_option", header)

NEVER_WITH_NEIGHBOR("hdr.pe.outer_ipv6")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.srh")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment0")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment1")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment2")
NEVER_WITH_NEIGHBOR("hdr.pe.srv6.segment3")
NEVER_WITH_NEIGHBOR("hdr.pe.tunnel.udp")
NEVER_WITH_NEIGHBOR("hdr.pe.tunnel.inner_ethernet")
NEVER_WITH_NEIGHBOR("hdr.pe.ipv4")
NEVER_WITH_NEIGHBOR("hdr.pe.udp")
NEVER_WITH_NEIGHBOR("hdr.pe.fast_cnp")
NEVER_WITH_NEIGHBOR("hdr.pe.roce.bth")
NEVER_WITH_NEIGHBOR("hdr.pe.roce.cnp_payload")
@pa_mutually_exclusive("ingress", "hdr.pe.neighbor.arp", "hdr.pe.neighbor.nd_option")
// In smaller pieces the segments do not fit on the action data bus of Tofino 2.
#if __TARGET_TOFINO__ == 2
@pa_container_size("ingress", "hdr.pe.srv6.segment0.sid", 32)
@pa_container_size("ingress", "hdr.pe.srv6.segment1.sid", 32)
@pa_container_size("ingress", "hdr.pe.srv6.segment2.sid", 32)
@pa_container_size("ingress", "hdr.pe.srv6.segment3.sid", 32)
#endif
@pa_auto_init_metadata
@pa_solitary("egress", "md.meta.base.level")
// Alone, because the compiler extracts fields of the same container over it.
@pa_solitary("ingress", "ig_intr_md_from_prsr.parser_err")
control PeIngress(
        inout pe_pass_headers_t hdr,
        inout tna_pe_meta_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    @name(".drops")
    Counter<bit<32>, DropReason>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) drops;
    @name(".punts")
    Counter<bit<32>, bit<8>>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) punts;
    @name(".events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) events;
    @name(".notifications_received")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_received;
    @name(".notifications_sent")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_sent;
    @name(".port_rx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_rx;
    @name(".vrf_refused")
    Counter<bit<32>, vrf_cell_t>(VRF_CELLS, CounterType_t.PACKETS_AND_BYTES) vrf_refused;

    PortRole() port_role;
    PortMac() port_mac;
    NotificationPort() notification_port;
    FastCnpChecksum() fast_cnp_checksum;
    UnderlayLookup() underlay_lookup;
    Classify() classify;
    CustomerArrival() customer_arrival;
    Arrival() arrival;
    LightNotified() light_notified;
    DomainMode() domain_mode;
    CnpProfile() cnp_profile;
    SenderNotification() sender_notification;
    TunnelDecap() tunnel_decap;
    CustomerPacket() customer_packet;
    Gateway() gateway;
    Advertisement() advertisement;
    EcnDecap() ecn_decap;
    Srv6End() srv6_end;
    VrfRouting() vrf_routing;
    VlanTag() vlan_tag;
    CustomerRewrite() customer_rewrite;
    Entropy() entropy;
    FlowTable() flow_table;
    FlowLearning() flow_learning;
    Fingerprint() fingerprint;
    Report() report;
    TunnelEncap() tunnel_encap;
    Underlay() underlay;
    PuntLimit() punt_limit;
    ChooseDigest() choose_digest;

    action take_off_vlan_tag() {
        hdr.pe.ethernet.ether_type = hdr.pe.vlan.ether_type;
        hdr.pe.vlan.setInvalid();
    }
    action take_time() {
        md.now = TICKS(ig_prsr_md.global_tstamp);
    }
    action take_word_label() {
        md.meta.notify_label = hdr.pe.fast_cnp.word[31:12];
    }
    action take_copy_label() {
        md.meta.notify_label = hdr.copy.label;
    }
    action entropy_label() {
        md.meta.flow_label[18:0] = md.meta.entropy[18:0];
    }
    action bridge(PassType pass) {
        hdr.bridge.setValid();
        hdr.bridge.pass = pass;
        hdr.copy.setInvalid();
    }
    action finish_at_cpu() {
        hdr.pe.packet_in.setValid();
        hdr.pe.packet_in.ingress_port = md.meta.base.ingress_port;
        hdr.pe.packet_in.reason = md.meta.base.punt_reason;
        hdr.pe.packet_in.vlan_id = 4w0 ++ md.meta.base.vlan_id;
        hdr.pe.packet_in.vrf = md.meta.base.vrf;
        ig_tm_md.ucast_egress_port = CPU_PORT;
    }

    // The chip has twelve stages, so what does not need each other is looked up in the same stage, and every
    // condition is a statement of its own: what stands behind a branch with several waits for all of them.
    // A packet that is to be dropped may go through more tables; the last reason is counted.
    apply {
        if (hdr.pe.packet_out.isValid()) {
            ig_tm_md.ucast_egress_port = hdr.pe.packet_out.egress_port;
            hdr.pe.packet_out.setInvalid();
            bridge(PassType.TRAFFIC);
        } else {
            take_time();
            domain_mode.apply(md.meta.base);
            cnp_profile.apply(hdr.pe.cnp_profile);
            flow_learning.apply(md.meta);
            notification_port.apply(md.udp_dst_port, md.meta.base);
            if (md.meta.base.copy_kind == NotificationKind.NONE) {
                port_role.apply(md.meta.base);
                port_mac.apply(hdr.pe.ethernet, md.meta.base);
            }
            if (md.meta.base.copy_kind == NotificationKind.NONE) {
                port_rx.count(md.meta.base.ingress_port);
            }
            fast_cnp_checksum.apply(
                hdr.pe.fast_cnp, hdr.pe.outer_ipv6.payload_len, md.parser_sum, md.meta);
            // Or a total length below 20 octets, as masks
            if (ig_prsr_md.parser_err != 0) {
                md.meta.parse_failed = true;
            } else if (hdr.pe.ipv6.isValid() && hdr.pe.ipv6.version != 6) {
                md.meta.parse_failed = true;
            } else if (hdr.pe.ipv4.isValid() && hdr.pe.ipv4.total_len & 0xfff0 == 0) {
                md.meta.parse_failed = true;
            } else if (hdr.pe.ipv4.isValid() && hdr.pe.ipv4.total_len & 0xfffc == 0x0010) {
                md.meta.parse_failed = true;
            }
            // Without an underlay header the packet is refused for what the parser found.
            if (ig_prsr_md.parser_err != 0 && !hdr.pe.outer_ipv6.isValid()) {
                md.meta.base.is_malformed = true;
            }
            if (md.meta.base.copy_kind != NotificationKind.NONE) {
                take_copy_label();
            } else {
                take_word_label();
            }
            customer_packet.apply(hdr.pe, md.meta);
            if (md.parser_sum == ICMPV6_PROTOCOL && hdr.pe.ipv6.version == 6
                    && hdr.pe.ipv6.payload_len[15:8] == 0) {
                md.meta.solicitation_sound = true;
            }
            // Dropped, unless it passes through in a tunnel: then it stays wrong, though the deparser computes it.
            if (md.meta.ipv4_checksum_failed) {
                md.ipv4_options_sum = 1;
            }
            gateway.apply(hdr.pe, md.meta);
            if (md.meta.answered && hdr.pe.neighbor.nd.isValid()) {
                md.is_advertisement = true;
            }
            if (hdr.pe.vlan.isValid()) {
                take_off_vlan_tag();
            }

            entropy.apply(hdr.pe, md.ports, md.meta);
            entropy_label();
            underlay_lookup.apply(hdr.pe, md.meta);
            classify.apply(hdr.pe.outer_ipv6, md.meta);
            if (md.meta.packet_class == PacketClass.CUSTOMER) {
                customer_arrival.apply(hdr.pe.ipv4, hdr.pe.ipv6, md.meta);
            } else {
                arrival.apply(hdr.pe, md.meta);
            }
            if (md.meta.packet_class == PacketClass.NOTIFICATION && (md.meta.make_cnp
                    || md.meta.base.drop_reason == DropReason.TRANSLATION_DISABLED)) {
                notifications_received.count(md.meta.base.notification_kind);
            }
            light_notified.apply(hdr.copy, hdr.pe.fast_cnp, md.meta, ig_dprsr_md.drop_ctl);
            fingerprint.apply(hdr.pe, md);
            if (md.meta.make_cnp
                    || (md.meta.base.forward == Forward.VRF && hdr.pe.outer_ipv6.isValid())) {
                tunnel_decap.apply(hdr.pe, md.meta);
            }
            sender_notification.apply(hdr.pe, md);
            if (md.meta.make_cnp && !md.meta.cnp_is_ipv4) {
                md.is_cnp_ipv6 = true;
            }
            if (md.meta.base.forward == Forward.VRF) {
                vrf_routing.apply(hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.ethernet, md.meta);
            }
            flow_table.apply(hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.roce.bth, md.meta);
            if (md.meta.base.destination == Destination.END_SID
                    && md.meta.base.forward == Forward.UNDERLAY) {
                srv6_end.apply(hdr.pe.outer_ipv6, hdr.pe.srv6, md.withheld);
            }
            if (md.meta.decapsulated && !md.meta.make_cnp) {
                ecn_decap.apply(md.meta);
            }
            events.count(md.meta.event);
            if ((md.meta.base.forward == Forward.VRF || md.meta.base.forward == Forward.TUNNEL)
                    && !md.meta.make_cnp && md.meta.base.drop_reason == DropReason.NONE
                    && md.meta.base.punt_reason == PuntReason.NONE && md.meta.hop_limit <= 1) {
                md.withheld = DropReason.TTL_EXPIRED;
            }
            // Before TunnelEncap, which sends the packet on to Underlay
            report.apply(md);
            if (md.meta.base.forward == Forward.TUNNEL) {
                tunnel_encap.apply(hdr.pe, md.meta);
            }
            if ((md.meta.base.role == Role.DC || md.meta.decapsulated) && !md.meta.make_cnp
                    && !md.meta.answered && md.meta.base.punt_reason == PuntReason.NONE) {
                customer_rewrite.apply(hdr.pe.ipv4, hdr.pe.ipv6, md.meta);
            }
            vlan_tag.apply(hdr.pe.ethernet, hdr.pe.vlan, md.meta);
            if (md.meta.base.forward == Forward.UNDERLAY) {
                underlay.apply(hdr.pe.outer_ipv6, hdr.pe.ethernet, md.meta.base);
            }
            advertisement.apply(hdr.pe, md.meta);

            if (md.meta.make_cnp) {
                bridge(PassType.NOTIFICATION);
            } else if (md.meta.flow_label_assigned
                       && md.meta.base.mode.congestion_kind != NotificationKind.NONE
                       && md.meta.customer_ecn != Ecn.NOT_ECT) {
                bridge(PassType.LABELLED);
            } else {
                bridge(PassType.TRAFFIC);
            }
            if (md.meta.base.drop_reason == DropReason.NONE) {
                if (md.meta.base.punt_reason != PuntReason.NONE || md.meta.answered) {
                    punt_limit.apply(md.meta.base.vrf, md.punt_color);
                }
            }
            if (md.punt_color != GREEN || md.report_color != GREEN) {
                vrf_refused.count(VRF_CELL(md.meta.base.vrf));
            }
            choose_digest.apply(hdr.pe, md, ig_dprsr_md.digest_type);
            // Before what the route says: a label that is not known has no address to look up.
            if (md.withheld != DropReason.NONE) {
                drops.count(md.withheld);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.make_cnp && md.meta.label_fault != DropReason.NONE) {
                drops.count(md.meta.label_fault);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.base.drop_reason != DropReason.NONE) {
                drops.count(md.meta.base.drop_reason);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.make_cnp && md.gate_passed == 0) {
                drops.count(DropReason.FLOW_INTERVAL);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.make_cnp && md.notification_color != GREEN) {
                drops.count(DropReason.NODE_RATE_LIMIT);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.punt_color != GREEN && !md.meta.answered) {
                drops.count(DropReason.PUNT_RATE_LIMIT);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.base.punt_reason != PuntReason.NONE) {
                punts.count(1w0 ++ md.meta.base.punt_reason);
                finish_at_cpu();
            } else {
                ig_tm_md.ucast_egress_port = md.meta.base.egress_port;
                if (md.meta.make_cnp) {
                    notifications_sent.count(NotificationKind.CNP);
                }
            }
        }
    }
}

control PeEgress(
        inout pe_pass_headers_t hdr,
        inout tna_pe_meta_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    @name(".ecn_marked")
    Counter<bit<32>, Ecn>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) ecn_marked;
    @name(".notifications_triggered")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_triggered;
    @name(".flow_interval_suppressed")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        flow_interval_suppressed;
    @name(".port_tx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_tx;

    QueueLevel() queue_level;
    CurveMarking() curve_marking;
    EcnMark() ecn_mark_ipv4;
    EcnMark() ecn_mark_ipv6;
    FlowGate(FLOW_GATE_SIZE) own_congestion_gate;

    action take_time() {
        md.now = TICKS(eg_prsr_md.global_tstamp);
    }
    action tell_sender() {
        md.wanted = true;
    }
    // A table only to be placed: the gate's register needs memory that the flow tables leave.
    @hidden PLACED(own_congestion)
    table own_congestion {
        actions = {
            tell_sender;
        }
        const default_action = tell_sender;
    }
    action copy_to_second_pass() {
        eg_dprsr_md.mirror_type = MIRROR_COPY;
        md.mirror_session = (MirrorId_t)(bit<10>)MirrorSession.RECIRC;
        md.mirror.pass = PassType.MIRROR;
        md.mirror.kind = NotificationKind.CNP;
        md.mirror.level = md.meta.base.level;
        md.mirror.pad0 = 0;
        md.mirror.pad1 = 0;
        md.mirror.label = hdr.pe.outer_ipv6.flow_label;
    }

    apply {
        // The copy is only passing through to its second pass.
        if (hdr.bridge.isValid() && eg_intr_md.egress_port != CPU_PORT) {
            take_time();
            port_tx.count(eg_intr_md.egress_port, sizeInBytes(hdr.bridge));
            queue_level.apply(
                eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth,
                md.meta.base);
            curve_marking.apply(eg_intr_md, md.meta.base);

            if (md.meta.base.level_mark != Ecn.NOT_ECT && hdr.bridge.pass != PassType.NOTIFICATION) {
                if (hdr.pe.outer_ipv6.isValid()) {
                    ecn_mark_ipv6.apply(hdr.pe.outer_ipv6.ecn, md.meta.base.level_mark, md.marked);
                } else if (hdr.pe.ipv4.isValid()) {
                    ecn_mark_ipv4.apply(hdr.pe.ipv4.ecn, md.meta.base.level_mark, md.marked);
                }
                if (md.marked) {
                    ecn_marked.count(md.meta.base.level_mark);
                }
            }

            // FCN-12: this node is the ingress PE of the flow, so it tells the sender itself.
            if (md.meta.base.level_notifies == 1 && hdr.bridge.pass == PassType.LABELLED) {
                own_congestion.apply();
            }
            own_congestion_gate.apply(
                md.wanted, false, hdr.pe.outer_ipv6.flow_label[15:0], md.meta.base.level_interval, md.now,
                md.gate_passed);
            if (md.wanted) {
                if (md.gate_passed == 1) {
                    notifications_triggered.count(NotificationKind.CNP);
                    copy_to_second_pass();
                } else {
                    flow_interval_suppressed.count(NotificationKind.CNP);
                }
            }
        }
        hdr.bridge.setInvalid();
    }
}

Pipeline(
    PeIngressParser(), PeIngress(), PeIngressDeparser(),
    PeEgressParser(), PeEgress(), PeEgressDeparser()) pipe;
Switch(pipe) main;
