// Transit node (P) for Tofino. Contents, in the order a packet meets them:
//
//   PortRole            only ports of the domain
//   NotificationPort    Fast CNP? it never causes another
//   Endpoint, Srv6End   underlay addresses and SIDs of this node
//   Underlay            the WAN's routes, ECMP
//   QueueLevel          egress: eight levels per port and queue
//   CeMark              CE on the outer header
//   FastCnp             copy of the congested packet -> Fast CNP -> second pass
#include "externs.p4"
#include "../common/config.p4"
#include "../common/types.p4"
#include "../common/headers.p4"
#include "../common/metadata.p4"
#include "../common/port_role.p4"
#include "../common/trust_boundary.p4"
#include "../common/endpoint.p4"
#include "../common/srv6_end.p4"
#include "../common/queue_level.p4"
#include "../common/ce_mark.p4"
#include "../common/fast_cnp.p4"
#include "pass_headers.p4"
#include "flow_gate.p4"
#include "rate_limits.p4"
#include "underlay.p4"
#include "punt.p4"
#include "p_parser.p4"

// QueueLevel begins in the first stage only if nobody else writes its container there.
@pa_auto_init_metadata
@pa_solitary("egress", "md.meta.level")
control PIngress(
        inout p_pass_headers_t hdr,
        inout tna_meta_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    @name(".drops")
    Counter<bit<32>, DropReason>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) drops;
    @name(".events")
    Counter<bit<32>, Event>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) events;
    @name(".port_rx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_rx;

    PortRole() port_role;
    NotificationPort() notification_port;
    Endpoint() endpoint;
    Srv6End() srv6_end;
    Underlay() underlay;
    Punt() punt;

    action bridge(PassType pass) {
        hdr.bridge.setValid();
        hdr.bridge.pass = pass;
        hdr.copy.setInvalid();
    }

    action finish_at_cpu() {
        hdr.p.packet_in.setValid();
        hdr.p.packet_in.ingress_port = md.meta.ingress_port;
        hdr.p.packet_in.reason = md.meta.punt_reason;
        hdr.p.packet_in.vlan_id = 0;
        hdr.p.packet_in.vrf = 0;
        ig_tm_md.ucast_egress_port = CPU_PORT;
    }

    apply {
        if (hdr.p.packet_out.isValid()) {
            ig_tm_md.ucast_egress_port = hdr.p.packet_out.egress_port;
            hdr.p.packet_out.setInvalid();
            bridge(PassType.TRAFFIC);
        } else {
            // Lookups first, side by side; what they mean is decided behind them.
            notification_port.apply(md.meta);
            endpoint.apply(hdr.p.outer_ipv6.dst, md.meta);
            if (md.meta.copy == Copy.NONE) {
                port_role.apply(md.meta);
            }
            if (md.meta.copy == Copy.NONE) {
                port_rx.count(md.meta.ingress_port);
            }

            if (md.meta.copy == Copy.FAST_CNP) {
                md.meta.forward = Forward.UNDERLAY;
            } else if (md.meta.drop_reason != DropReason.NONE) {
                // Decided already.
            } else if (md.meta.parse_failed || ig_prsr_md.parser_err != 0) {
                md.meta.drop_reason = DropReason.MALFORMED;
            } else if (md.meta.role != Role.CORE) {
                md.meta.drop_reason = DropReason.UNSUPPORTED;
            } else if (hdr.p.ethernet.ether_type == EtherType.ARP) {
                md.meta.punt_reason = PuntReason.ARP;
            } else if (!hdr.p.outer_ipv6.isValid()) {
                md.meta.drop_reason = DropReason.UNSUPPORTED;
            } else if (md.meta.is_nd) {
                md.meta.punt_reason = PuntReason.ND;
            } else if (md.meta.is_local) {
                md.meta.punt_reason = PuntReason.UNDERLAY_LOCAL;
            } else if (hdr.p.outer_ipv6.hop_limit <= 1) {
                md.meta.drop_reason = DropReason.TTL_EXPIRED;
            } else {
                md.meta.forward = Forward.UNDERLAY;
                hdr.p.outer_ipv6.hop_limit = hdr.p.outer_ipv6.hop_limit - 1;
            }
            if (md.meta.copy == Copy.NONE && md.meta.is_end_sid) {
                srv6_end.apply(
                    hdr.p.outer_ipv6, hdr.p.srh, hdr.p.segment0, hdr.p.segment1,
                    hdr.p.segment2, hdr.p.segment3, md.meta.drop_reason);
            }
            if (md.meta.forward == Forward.UNDERLAY) {
                underlay.apply(hdr.p.outer_ipv6, hdr.p.ethernet, md.meta);
            }

            if (md.meta.copy == Copy.FAST_CNP || md.meta.is_notification) {
                bridge(PassType.NOTIFICATION);
            } else {
                bridge(PassType.TRAFFIC);
            }
            if (md.meta.drop_reason == DropReason.NONE) {
                punt.apply(md.meta, md.punt_color);
            }
            if (md.meta.drop_reason != DropReason.NONE) {
                drops.count(md.meta.drop_reason);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.punt_color != GREEN) {
                drops.count(DropReason.PUNT_RATE_LIMIT);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.punt_reason != PuntReason.NONE) {
                events.count(Event.PUNTED);
                finish_at_cpu();
            } else {
                ig_tm_md.ucast_egress_port = md.meta.egress_port;
                if (md.meta.copy == Copy.FAST_CNP) {
                    events.count(Event.FAST_CNP_SENT);
                }
            }
        }
    }
}

control PEgress(
        inout p_pass_headers_t hdr,
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
    CeMark() ce_mark;
    FastCnpProfile() fast_cnp_profile;
    FlowGate() fast_cnp_gate;
    NotificationLimit() notification_limit;
    FastCnp() fast_cnp;

    action take_time() {
        md.now = TICKS(eg_prsr_md.global_tstamp);
    }
    action copy_to_second_pass() {
        eg_dprsr_md.mirror_type = MIRROR_COPY;
        md.mirror_session = (MirrorId_t)(bit<10>)MirrorSession.RECIRC;
        md.mirror.pass = PassType.MIRROR;
        md.mirror.pad0 = 0;
        md.mirror.copy = Copy.FAST_CNP;
        md.mirror.level = md.meta.level;
        md.mirror.pad1 = 0;
        md.mirror.label = 0;
    }

    apply {
        fast_cnp_profile.apply(md.meta);
        if (hdr.copy.isValid()) {
            fast_cnp.apply(hdr.p, md.meta);
        } else if (eg_intr_md.egress_port != CPU_PORT) {
            take_time();
            queue_level.apply(
                eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth, md.meta);
            port_tx.count(eg_intr_md.egress_port);

            // FCN-8: an ECN-capable packet with an FCN label that is no notification itself
            if (md.meta.level_notifies == 1 && md.meta.notify_enabled == 1
                    && hdr.bridge.pass == PassType.TRAFFIC && hdr.p.outer_ipv6.isValid()
                    && hdr.p.outer_ipv6.ecn != Ecn.NOT_ECT
                    && hdr.p.outer_ipv6.flow_label & FCN_LABEL_BIT != 0) {
                md.wanted = true;
            }
            fast_cnp_gate.apply(
                md.wanted, hdr.p.outer_ipv6.flow_label, md.meta.level_interval, md.now,
                md.gate_passed);
            if (hdr.p.outer_ipv6.isValid() && md.meta.level_marks == 1) {
                ce_mark.apply(hdr.p.outer_ipv6.ecn, md.marked);
            }
            if (md.marked) {
                mark_events.count(Event.CE_MARKED);
            }
            if (md.wanted && md.gate_passed == 1) {
                notification_limit.apply(md.notification_color);
            }
            if (md.wanted) {
                if (md.gate_passed == 0) {
                    egress_events.count(Event.FLOW_INTERVAL_SUPPRESSED);
                } else if (md.notification_color != GREEN) {
                    egress_events.count(Event.NODE_RATE_SUPPRESSED);
                } else {
                    egress_events.count(Event.NOTIFICATION_TRIGGERED);
                    copy_to_second_pass();
                }
            }
        }
        hdr.bridge.setInvalid();
    }
}

Pipeline(
    PIngressParser(), PIngress(), PIngressDeparser(),
    PEgressParser(), PEgress(), PEgressDeparser()) pipe;
Switch(pipe) main;
