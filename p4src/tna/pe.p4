// Provider edge (PE) for Tofino. Contents, in the order a packet meets them:
//
//   PortRole            who is on the other side; VRF of a customer
//   NotificationPort    Fast CNP?
//   UnderlayLookup      from the WAN: Endpoint, TrustBoundary; FlowByLabel or ServiceTermination
//   FlowTable           RoCEv2 from a customer: flow label
//   Arrival             what is to be done with it
//   SenderNotification  CnpGenerator, Icrc, both rate limits
//   TunnelDecap         off with the underlay; EcnDecap
//   VrfRouting, VlanTag the customer's routes
//   Srv6End             next segment
//   Report              learning
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
#include "../common/customer_packet.p4"
#include "../common/cnp_generator.p4"
#include "../common/vrf_routing.p4"
#include "../common/vlan_tag.p4"
#include "../common/flow_table.p4"
#include "../common/flow_learning.p4"
#include "../common/tunnel_encap.p4"
#include "../common/queue_level.p4"
#include "../common/ce_mark.p4"
#include "pass_headers.p4"
#include "flow_gate.p4"
#include "rate_limits.p4"
#include "entropy.p4"
#include "icrc.p4"
#include "sender_notification.p4"
#include "underlay.p4"
#include "report.p4"
#include "punt.p4"
#include "pe_parser.p4"
#include "pe_egress_parser.p4"
#include "fast_cnp_checksum.p4"

@pa_auto_init_metadata
@pa_solitary("egress", "md.meta.level")
control PeIngress(
        inout pe_pass_headers_t hdr,
        inout tna_meta_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    @name(".drops")
    Counter<bit<32>, DropReason>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) drops;
    // A counter is met once per packet: what a packet was on arrival, and what became of it.
    @name(".arrival_events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) arrival_events;
    @name(".events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) events;
    @name(".port_rx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_rx;

    PortRole() port_role;
    NotificationPort() notification_port;
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
    CustomerRewrite() customer_rewrite;
    Entropy() entropy;
    FlowTable() flow_table;
    FlowLearning() flow_learning;
    Fingerprint() fingerprint;
    Report() report;
    TunnelEncap() tunnel_encap;
    Underlay() underlay;
    Punt() punt;


    action take_off_vlan_tag() {
        hdr.pe.ethernet.ether_type = hdr.pe.vlan.ether_type;
        hdr.pe.vlan.setInvalid();
    }
    // A label starts at no octet, so the parser cannot move it.
    action take_outer_label() {
        md.meta.tunnel_id[19:0] = hdr.pe.mpls0.label;
    }
    action take_inner_label() {
        md.meta.tunnel_id[19:0] = hdr.pe.mpls1.label;
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
        hdr.pe.packet_in.ingress_port = md.meta.ingress_port;
        hdr.pe.packet_in.reason = md.meta.punt_reason;
        hdr.pe.packet_in.vlan_id = 4w0 ++ md.meta.vlan_id;
        hdr.pe.packet_in.vrf = md.meta.vrf;
        ig_tm_md.ucast_egress_port = CPU_PORT;
    }

    // Twelve steps are all there are, so what does not need each other is asked side by side, and every
    // condition is a step of its own: a branch with several steps would hold up what stands behind it.
    // A packet that is to be dropped may take some steps more; the last reason is counted.
    apply {
        if (hdr.pe.packet_out.isValid()) {
            ig_tm_md.ucast_egress_port = hdr.pe.packet_out.egress_port;
            hdr.pe.packet_out.setInvalid();
            bridge(PassType.TRAFFIC);
        } else {
            take_time();
            cnp_profile.apply(md.meta);
            flow_learning.apply(md.meta);
            notification_port.apply(md.meta);
            if (md.meta.copy == Copy.NONE) {
                port_role.apply(md.meta);
            }
            if (md.meta.copy == Copy.NONE) {
                port_rx.count(md.meta.ingress_port);
            }
            if (hdr.pe.mpls1.isValid()) {
                take_inner_label();
            } else if (hdr.pe.mpls0.isValid()) {
                take_outer_label();
            }
            if (hdr.pe.ipv4.isValid() && hdr.pe.ipv4.ihl == 5
                    && md.ipv4_options_sum != 0 && md.ipv4_options_sum != 0xffff) {
                md.meta.ipv4_checksum_failed = true;
            }
            fast_cnp_checksum.apply(
                hdr.pe.fast_cnp, hdr.pe.outer_ipv6.payload_len, md.fast_cnp_sum, md.meta);
            // Or a total length below 20 octets, as masks
            if (ig_prsr_md.parser_err != 0) {
                md.meta.parse_failed = true;
            } else if (hdr.pe.ipv4.isValid() && hdr.pe.ipv4.total_len & 0xfff0 == 0) {
                md.meta.parse_failed = true;
            } else if (hdr.pe.ipv4.isValid() && hdr.pe.ipv4.total_len & 0xfffc == 0x0010) {
                md.meta.parse_failed = true;
            }
            if (md.meta.copy == Copy.OWN_CONGESTION) {
                take_copy_label();
            } else {
                take_word_label();
            }
            customer_packet.apply(hdr.pe, md.meta);
            if (hdr.pe.vlan.isValid()) {
                take_off_vlan_tag();
            }

            entropy.apply(hdr.pe, md.ports, md.meta);
            entropy_label();
            underlay_lookup.apply(hdr.pe, md.meta);
            arrival.apply(hdr.pe, md.meta);
            fingerprint.apply(hdr.pe, md);
            if (md.meta.make_cnp
                    || (md.meta.forward == Forward.VRF && hdr.pe.outer_ipv6.isValid())) {
                tunnel_decap.apply(hdr.pe, md.meta);
            }
            sender_notification.apply(hdr.pe, md);
            if (md.meta.make_cnp && !md.meta.cnp_is_ipv4) {
                md.is_cnp_ipv6 = true;
            }
            vrf_routing.apply(hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.ethernet, md.meta);
            flow_table.apply(hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.bth, md.meta);
            if (md.meta.is_end_sid && md.meta.forward == Forward.UNDERLAY) {
                srv6_end.apply(
                    hdr.pe.outer_ipv6, hdr.pe.srh, hdr.pe.segment0, hdr.pe.segment1,
                    hdr.pe.segment2, hdr.pe.segment3, md.withheld);
            }
            if (md.meta.decapsulated && !md.meta.make_cnp) {
                ecn_decap.apply(md.meta);
            }
            arrival_events.count(md.meta.event);
            if ((md.meta.forward == Forward.VRF || md.meta.forward == Forward.TUNNEL)
                    && !md.meta.make_cnp && md.meta.drop_reason == DropReason.NONE
                    && md.meta.punt_reason == PuntReason.NONE && md.meta.hop_limit <= 1) {
                md.withheld = DropReason.TTL_EXPIRED;
            }
            tunnel_encap.apply(hdr.pe, md.meta);
            if ((md.meta.role == Role.DC || md.meta.decapsulated) && !md.meta.make_cnp
                    && md.meta.punt_reason == PuntReason.NONE) {
                customer_rewrite.apply(hdr.pe.ipv4, hdr.pe.ipv6, md.meta);
            }
            report.apply(hdr.pe, md, ig_dprsr_md.digest_type);
            vlan_tag.apply(hdr.pe.ethernet, hdr.pe.vlan, md.meta);
            if (md.meta.forward == Forward.UNDERLAY) {
                underlay.apply(hdr.pe.outer_ipv6, hdr.pe.ethernet, md.meta);
            }

            if (md.meta.make_cnp) {
                bridge(PassType.NOTIFICATION);
            } else if (md.meta.flow_label_assigned && md.meta.notify_enabled == 1
                       && md.meta.customer_ecn != Ecn.NOT_ECT) {
                bridge(PassType.LABELLED);
            } else {
                bridge(PassType.TRAFFIC);
            }
            if (md.meta.drop_reason == DropReason.NONE && md.withheld == DropReason.NONE) {
                punt.apply(md.meta, md.punt_color);
            }
            if (md.withheld != DropReason.NONE) {
                drops.count(md.withheld);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.drop_reason != DropReason.NONE) {
                drops.count(md.meta.drop_reason);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.make_cnp && md.meta.label_fault != DropReason.NONE) {
                drops.count(md.meta.label_fault);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.make_cnp && md.gate_passed == 0) {
                drops.count(DropReason.FLOW_INTERVAL);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.make_cnp && md.notification_color != GREEN) {
                drops.count(DropReason.NODE_RATE_LIMIT);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.punt_color != GREEN) {
                drops.count(DropReason.PUNT_RATE_LIMIT);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.punt_reason != PuntReason.NONE) {
                events.count(Event.PUNTED);
                finish_at_cpu();
            } else {
                ig_tm_md.ucast_egress_port = md.meta.egress_port;
                if (md.meta.make_cnp) {
                    events.count(Event.CNP_SENT);
                }
            }
        }
    }
}

control PeEgress(
        inout pe_pass_headers_t hdr,
        inout tna_meta_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    @name(".egress_events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) egress_events;
    // A counter is met once per packet: what may come on top of an egress event has its own.
    @name(".mark_events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) mark_events;
    @name(".port_tx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_tx;

    QueueLevel() queue_level;
    CeMark() ce_mark_ipv4;
    CeMark() ce_mark_ipv6;
    FlowGate() own_congestion_gate;

    action take_time() {
        md.now = TICKS(eg_prsr_md.global_tstamp);
    }
    action copy_to_second_pass() {
        eg_dprsr_md.mirror_type = MIRROR_COPY;
        md.mirror_session = (MirrorId_t)(bit<10>)MirrorSession.RECIRC;
        md.mirror.pass = PassType.MIRROR;
        md.mirror.pad0 = 0;
        md.mirror.copy = Copy.OWN_CONGESTION;
        md.mirror.level = md.meta.level;
        md.mirror.pad1 = 0;
        md.mirror.label = hdr.pe.outer_ipv6.flow_label;
    }

    apply {
        // The copy is only passing through to its second pass.
        if (hdr.bridge.isValid() && eg_intr_md.egress_port != CPU_PORT) {
            take_time();
            port_tx.count(eg_intr_md.egress_port);
            queue_level.apply(
                eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth,
                md.meta);

            if (md.meta.level_marks == 1 && hdr.bridge.pass != PassType.NOTIFICATION) {
                if (hdr.pe.outer_ipv6.isValid()) {
                    ce_mark_ipv6.apply(hdr.pe.outer_ipv6.ecn, md.marked);
                } else if (hdr.pe.ipv4.isValid()) {
                    ce_mark_ipv4.apply(hdr.pe.ipv4.ecn, md.marked);
                }
                if (md.marked) {
                    mark_events.count(Event.CE_MARKED);
                }
            }

            // FCN-12: this node is the ingress PE of the flow, so it tells the sender itself.
            if (md.meta.level_notifies == 1 && hdr.bridge.pass == PassType.LABELLED) {
                md.wanted = true;
            }
            own_congestion_gate.apply(
                md.wanted, hdr.pe.outer_ipv6.flow_label, md.meta.level_interval, md.now,
                md.gate_passed);
            if (md.wanted) {
                if (md.gate_passed == 1) {
                    egress_events.count(Event.NOTIFICATION_TRIGGERED);
                    copy_to_second_pass();
                } else {
                    egress_events.count(Event.FLOW_INTERVAL_SUPPRESSED);
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
