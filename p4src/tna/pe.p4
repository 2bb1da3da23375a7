// Provider edge (PE) for Tofino. Contents, in the order a packet meets them:
//
//   PortRole            who is on the other side; VRF of a customer
//   NotificationPort    Fast CNP?
//   UnderlayLookup      from the WAN: Endpoint, TrustBoundary, ServiceTermination
//   UnderlayArrival     what is to be done with it; Srv6End
//   SenderNotification  Fast CNP: FlowByLabel, CnpGenerator, Icrc; SenderLimits
//   TunnelDecap         off with the underlay; EcnDecap
//   VrfRouting          the customer's routes
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
#include "../common/underlay_arrival.p4"
#include "../common/customer_packet.p4"
#include "../common/flow_by_label.p4"
#include "../common/cnp_generator.p4"
#include "../common/vrf_routing.p4"
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

@pa_auto_init_metadata
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
    UnderlayLookup() underlay_lookup;
    UnderlayArrival() underlay_arrival;
    CnpProfile() cnp_profile;
    SenderNotification() sender_notification;
    SenderLimits() sender_limits;
    TunnelDecap() tunnel_decap;
    CustomerPacket() customer_packet;
    EcnDecap() ecn_decap;
    VrfRouting() vrf_routing;
    CustomerRewrite() customer_rewrite;
    Entropy() entropy;
    FlowTable() flow_table;
    FlowLearning() flow_learning;
    Report() report;
    TunnelEncap() tunnel_encap;
    Underlay() underlay;
    Punt() punt;

    Event arrival;
    DropReason limit;

    action take_off_vlan_tag() {
        hdr.pe.ethernet.ether_type = hdr.pe.vlan.ether_type;
        hdr.pe.vlan.setInvalid();
    }
    action entropy_label() {
        md.meta.flow_label = 1w0 ++ md.meta.entropy[18:0];
    }
    action bridge() {
        hdr.bridge.setValid();
        hdr.bridge.pass = PassType.BRIDGE;
        hdr.bridge.pad0 = 0;
        hdr.bridge.pad1 = 0;
        hdr.bridge.pad2 = 0;
        hdr.bridge.customer_ecn = md.meta.customer_ecn;
        hdr.bridge.flow_label = md.meta.flow_label;
        hdr.bridge.make_cnp = (bit<1>)md.meta.make_cnp;
        hdr.bridge.flow_label_assigned = (bit<1>)md.meta.flow_label_assigned;
        hdr.bridge.notify_enabled = md.meta.notify_enabled;
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

    apply {
        arrival = Event.NONE;
        limit = DropReason.NONE;
        if (hdr.pe.packet_out.isValid()) {
            ig_tm_md.ucast_egress_port = hdr.pe.packet_out.egress_port;
            hdr.pe.packet_out.setInvalid();
        } else {
            // Lookups and hashes first, side by side; what they mean is decided behind them.
            cnp_profile.apply(md.meta);
            flow_learning.apply(md.meta);
            notification_port.apply(md.meta);
            if (md.meta.copy == Copy.NONE) {
                port_rx.count(md.meta.ingress_port);
                port_role.apply(md.meta);
            }
            if (hdr.pe.outer_ipv6.isValid()) {
                underlay_lookup.apply(hdr.pe.outer_ipv6, md.meta);
            }
            md.meta.ipv4_checksum_failed = hdr.pe.ipv4.isValid() && hdr.pe.ipv4.ihl == 5
                && md.ipv4_options_sum != 0 && md.ipv4_options_sum != 0xffff;
            md.meta.udp_checksum_failed = md.fast_cnp_sum != UDP_PROTOCOL;
            if (ig_prsr_md.parser_err != 0) {
                md.meta.parse_failed = true;
            }
            customer_packet.apply(hdr.pe, md.meta);
            entropy.apply(hdr.pe, md.ports, md.meta);
            entropy_label();
            if (hdr.pe.vlan.isValid()) {
                take_off_vlan_tag();
            }

            if (md.meta.copy == Copy.OWN_CONGESTION) {
                arrival = Event.OWN_CONGESTION;
                md.meta.notify_label = hdr.copy.label;
                md.meta.notify = true;
            } else if (md.meta.drop_reason != DropReason.NONE) {
                // Decided already.
            } else if (md.is_arp) {
                md.meta.punt_reason = PuntReason.ARP;
            } else if (md.meta.role == Role.DC) {
                if (md.meta.is_notification) {
                    md.meta.drop_reason = DropReason.NOTIFICATION_ON_DC_PORT;
                } else if (md.meta.parse_failed) {
                    md.meta.drop_reason = DropReason.MALFORMED;
                } else if (md.meta.is_nd) {
                    md.meta.punt_reason = PuntReason.ND;
                } else {
                    md.meta.forward = Forward.VRF;
                }
            } else if (hdr.pe.outer_ipv6.isValid()) {
                underlay_arrival.apply(hdr.pe, md.meta);
                if (md.meta.notify) {
                    arrival = Event.FAST_CNP_RECEIVED;
                }
            } else if (md.meta.parse_failed) {
                md.meta.drop_reason = DropReason.MALFORMED;
            } else {
                md.meta.drop_reason = DropReason.UNSUPPORTED;
            }

            if (md.meta.forward == Forward.VRF && md.meta.drop_reason == DropReason.NONE) {
                md.meta.drop_reason = md.meta.customer_fault;
                if (hdr.pe.outer_ipv6.isValid()) {
                    tunnel_decap.apply(hdr.pe, md.meta);
                    ecn_decap.apply(md.meta);
                    arrival = md.meta.ecn_event;
                }
            }
            if (md.meta.notify) {
                sender_notification.apply(hdr.pe, md.meta);
                if (md.meta.make_cnp) {
                    sender_limits.apply(md.meta, ig_prsr_md.global_tstamp, limit);
                    md.is_cnp_ipv6 = hdr.pe.ipv6.isValid();
                }
            }

            if (md.meta.forward == Forward.VRF && md.meta.drop_reason == DropReason.NONE) {
                vrf_routing.apply(
                    hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.ethernet, hdr.pe.vlan, md.meta);
                if (!md.meta.make_cnp && md.meta.drop_reason == DropReason.NONE
                        && md.meta.punt_reason == PuntReason.NONE) {
                    if (md.meta.hop_limit <= 1) {
                        md.meta.drop_reason = DropReason.TTL_EXPIRED;
                    } else {
                        customer_rewrite.apply(hdr.pe.ipv4, hdr.pe.ipv6, md.meta);
                    }
                }
            }

            if (md.meta.forward == Forward.TUNNEL && md.meta.drop_reason == DropReason.NONE) {
                if (md.meta.is_roce_flow) {
                    flow_table.apply(hdr.pe.ipv4, hdr.pe.ipv6, hdr.pe.bth, md.meta);
                }
                if (md.meta.role == Role.DC) {
                    Event reported;
                    report.apply(
                        hdr.pe, md.meta, md.cm, ig_prsr_md.global_tstamp,
                        ig_dprsr_md.digest_type, reported);
                    arrival = reported;
                }
                tunnel_encap.apply(hdr.pe, md.meta);
            }

            if (md.meta.forward == Forward.UNDERLAY && md.meta.drop_reason == DropReason.NONE) {
                underlay.apply(hdr.pe.outer_ipv6, hdr.pe.ethernet, md.meta);
            }

            if (limit != DropReason.NONE) {
                md.meta.drop_reason = limit;
            }
            arrival_events.count(arrival);
            punt.apply(md.meta);
            if (md.meta.drop_reason != DropReason.NONE) {
                drops.count(md.meta.drop_reason);
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
        bridge();
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

    action copy_to_second_pass() {
        eg_dprsr_md.mirror_type = MIRROR_COPY;
        md.mirror_session = (MirrorId_t)(bit<10>)MirrorSession.RECIRC;
        md.mirror.pass = PassType.MIRROR;
        md.mirror.pad0 = 0;
        md.mirror.copy = Copy.OWN_CONGESTION;
        md.mirror.level = md.meta.level;
        md.mirror.pad1 = 0;
        md.mirror.label = hdr.bridge.flow_label;
    }

    apply {
        // The copy is only passing through to its second pass.
        if (hdr.bridge.isValid() && eg_intr_md.egress_port != CPU_PORT) {
            bool marked = false;
            bool pass = false;
            Event event = Event.NONE;

            port_tx.count(eg_intr_md.egress_port);
            queue_level.apply(
                eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth,
                md.meta);

            if (md.meta.level_marks == 1 && hdr.bridge.make_cnp == 0) {
                if (hdr.pe.outer_ipv6.isValid()) {
                    ce_mark_ipv6.apply(hdr.pe.outer_ipv6.ecn, marked);
                } else if (hdr.pe.ipv4.isValid()) {
                    ce_mark_ipv4.apply(hdr.pe.ipv4.ecn, marked);
                }
                if (marked) {
                    mark_events.count(Event.CE_MARKED);
                }
            }

            // FCN-12: this node is the ingress PE of the flow, so it tells the sender itself.
            if (md.meta.level_notifies == 1 && hdr.bridge.notify_enabled == 1
                    && hdr.bridge.flow_label_assigned == 1
                    && hdr.bridge.customer_ecn != Ecn.NOT_ECT) {
                own_congestion_gate.apply(
                    hdr.bridge.flow_label, md.meta.level_interval, eg_prsr_md.global_tstamp, pass);
                if (pass) {
                    event = Event.NOTIFICATION_TRIGGERED;
                    copy_to_second_pass();
                } else {
                    event = Event.FLOW_INTERVAL_SUPPRESSED;
                }
                egress_events.count(event);
            }
        }
        hdr.bridge.setInvalid();
    }
}

Pipeline(
    PeIngressParser(), PeIngress(), PeIngressDeparser(),
    PeEgressParser(), PeEgress(), PeEgressDeparser()) pipe;
Switch(pipe) main;
