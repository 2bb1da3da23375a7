// Transit node (P) for Tofino. Contents, in the order in which a packet is processed:
//
//   NotificationPort    Fast CNP? it never causes another
//   Endpoint            underlay addresses and SIDs of this node
//   PortRole            only ports of the domain
//   PortMac             for this node, or for another station?
//   WanArrival          what is done with the packet
//   Srv6End             next segment
//   Underlay            the WAN's routes, ECMP
//   DomainMode          egress: what this node does about congestion
//   FastCnp             copy of the packet in a congested queue -> Fast CNP -> second pass
//   QueueLevel          eight levels per port and queue
//   CurveMarking        a mark by chance, in profile two-threshold (two_threshold/tna)
//   Hold...             copies that ask the upstream neighbour to hold, in profile flow-control (flow_control/tna)
//   Clock..., Path...   copies that tell PEs of their paths, in profile fantel (fantel/tna)
//   FlowGate, EcnMark   may a notification go? the level's mark on the outer header
#include "../base/tna/externs.p4"
#include "../base/sizes.p4"
#include "../base/p_headers.p4"
#include "../base/p_metadata.p4"
#include "../forwarding/port_role.p4"
#include "../forwarding/port_mac.p4"
#include "../fast_cnp/notification_port.p4"
#include "../forwarding/endpoint.p4"
#include "../forwarding/wan_arrival.p4"
#include "../forwarding/srv6_end.p4"
#include "../forwarding/underlay.p4"
#include "../base/rate_limits.p4"
#include "../fast_cnp/domain_mode.p4"
#include "../fast_cnp/queue_level.p4"
#include "../fast_cnp/ecn_mark.p4"
#include "../forwarding/srv6_parser.p4"
#include "../fast_cnp/fast_cnp_profile.p4"
#include "../fast_cnp/fast_cnp.p4"
#include "../base/tna/pass_headers.p4"
#include "p_metadata.p4"
#include "../fast_cnp/tna/flow_gate.p4"
#include "p_parser.p4"

// QueueLevel begins in the first stage only if nobody else writes its container there.
@pa_auto_init_metadata
@pa_solitary("egress", "md.meta.base.level")
@pa_solitary("ingress", "md.meta.base.is_malformed")
// In smaller pieces they are not copied to each other.
@pa_container_size("egress", "hdr.p.outer_ipv6.flow_label", 32)
@pa_container_size("egress", "hdr.p.fast_cnp.word", 32)
control PIngress(
        inout p_pass_headers_t hdr,
        inout tna_p_meta_t md,
        in ingress_intrinsic_metadata_t ig_intr_md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    @name(".drops")
    Counter<bit<32>, DropReason>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) drops;
    @name(".punts")
    Counter<bit<32>, bit<8>>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) punts;
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
    Endpoint() endpoint;
    WanArrival() wan_arrival;
    Srv6End() srv6_end;
    Underlay() underlay;
    PuntLimit() punt_limit;
    HoldMessage() hold_message;
    ClockAgain() clock_again;

    action bridge(PassType pass) {
        hdr.bridge.setValid();
        hdr.bridge.pass = pass;
        hdr.copy.setInvalid();
    }

#if HAS_ARRIVAL
    // What the egress has to know of how the packet came, before a segment ends here
    action carry_over() {
        hdr.arrival.setValid();
#if HAS_FLOW_CONTROL
        hdr.arrival.port = md.meta.base.ingress_port;
#endif
        hdr.arrival.dst = hdr.p.outer_ipv6.dst;
        hdr.arrival.ports = md.ports;
    }
#endif

    action finish_at_cpu() {
        hdr.p.packet_in.setValid();
        hdr.p.packet_in.ingress_port = md.meta.base.ingress_port;
        hdr.p.packet_in.reason = md.meta.base.punt_reason;
        hdr.p.packet_in.vlan_id = 0;
        hdr.p.packet_in.vrf = 0;
        ig_tm_md.ucast_egress_port = CPU_PORT;
    }

    apply {
#if HAS_ARRIVAL
        carry_over();
#endif
        if (hdr.p.packet_out.isValid()) {
            ig_tm_md.ucast_egress_port = hdr.p.packet_out.egress_port;
            hdr.p.packet_out.setInvalid();
            bridge(PassType.TRAFFIC);
#if HAS_FANTEL
        } else if (hdr.clock.isValid()) {
            clock_again.apply(hdr, ig_dprsr_md.drop_ctl);
            ig_tm_md.ucast_egress_port = RECIRC_PORT;
            bridge(PassType.CLOCK);
#endif
        } else {
            // What does not need each other is looked up first; what it means is decided behind.
            notification_port.apply(md.udp_dst_port, md.meta.base);
            endpoint.apply(hdr.p.outer_ipv6.dst, md.meta.base);
            if (ig_prsr_md.parser_err != 0) {
                md.meta.base.is_malformed = true;
            }
            if (md.meta.base.copy_kind == NotificationKind.NONE) {
                port_role.apply(md.meta.base);
                port_mac.apply(hdr.p.ethernet, md.meta.base);
            }
            if (md.meta.base.copy_kind == NotificationKind.NONE) {
                port_rx.count(md.meta.base.ingress_port);
            }

            // Of a packet that does not go on, the next segment is of no use.
            if (md.meta.base.copy_kind == NotificationKind.NONE) {
                if (md.meta.base.destination == Destination.END_SID) {
                    srv6_end.apply(hdr.p.outer_ipv6, hdr.p.srv6, md.withheld);
                }
                if (md.meta.base.drop_reason == DropReason.NONE) {
                    wan_arrival.apply(hdr.p.outer_ipv6, md.meta.base);
                }
                hold_message.apply(md.meta.base);
            }
            if (md.meta.base.forward == Forward.UNDERLAY) {
                underlay.apply(hdr.p.outer_ipv6, hdr.p.ethernet, md.meta.base);
            }

            // Two conditions: of one of both, the compiler matches the first field only.
            if (md.meta.base.copy_kind != NotificationKind.NONE) {
                bridge(PassType.NOTIFICATION);
            } else if (md.meta.base.notification_kind != NotificationKind.NONE) {
                bridge(PassType.NOTIFICATION);
            } else {
                bridge(PassType.TRAFFIC);
            }
            if (md.meta.base.drop_reason == DropReason.NONE) {
                if (md.meta.base.punt_reason != PuntReason.NONE) {
                    punt_limit.apply(md.meta.base.vrf, md.punt_color);
                }
            }
            // Here, because a stage counts three of them: limits are not for copies.
            if (md.meta.base.copy_kind != NotificationKind.NONE
                    && md.meta.base.drop_reason == DropReason.NONE
                    && md.meta.base.punt_reason == PuntReason.NONE) {
                notifications_sent.count(md.meta.base.copy_kind);
            }
            if (md.withheld != DropReason.NONE && md.meta.base.forward == Forward.UNDERLAY) {
                drops.count(md.withheld);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.base.drop_reason != DropReason.NONE) {
                drops.count(md.meta.base.drop_reason);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.punt_color != GREEN) {
                vrf_refused.count(VRF_CELL(md.meta.base.vrf));
                drops.count(DropReason.PUNT_RATE_LIMIT);
                ig_dprsr_md.drop_ctl = 1;
            } else if (md.meta.base.punt_reason != PuntReason.NONE) {
                punts.count(1w0 ++ md.meta.base.punt_reason);
                finish_at_cpu();
            } else {
                ig_tm_md.ucast_egress_port = md.meta.base.egress_port;
            }
        }
    }
}

control PEgress(
        inout p_pass_headers_t hdr,
        inout tna_p_meta_t md,
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
    @name(".node_rate_suppressed")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        node_rate_suppressed;
    @name(".port_tx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_tx;

    QueueLevel() queue_level;
    CurveMarking() curve_marking;
    EcnMark() ecn_mark;
    DomainMode() domain_mode;
    FastCnpProfile() fast_cnp_profile;
    FlowGate(FLOW_GATE_SIZE) fast_cnp_gate;
    NotificationLimit() notification_limit;
    FastCnp() fast_cnp;
    HoldAsk() hold_ask;
    HoldCopy() hold_copy;
    PathAsk() path_ask;
    PathCopy() path_copy;

    action take_time() {
        md.now = TICKS(eg_prsr_md.global_tstamp);
    }
    action copy_to_second_pass() {
        eg_dprsr_md.mirror_type = MIRROR_COPY;
        md.mirror_session = (MirrorId_t)(bit<10>)MirrorSession.RECIRC;
        md.mirror.pass = PassType.MIRROR;
        md.mirror.level = md.meta.base.level;
        md.mirror.pad0 = 0;
        md.mirror.pad1 = 0;
#if !HAS_FANTEL
        md.mirror.label = 0;
#endif
    }
#if HAS_ARRIVAL
    action tell(bit<1> passed) {
        md.wanted = true;
        md.gate_passed = passed;
        md.mirror.kind = TOLD_KIND;
    }
#endif

    apply {
        domain_mode.apply(md.meta.base);
        fast_cnp_profile.apply(hdr.p.fast_cnp_profile);
        if (hdr.copy.isValid()) {
            hold_copy.apply(hdr, md.meta, eg_dprsr_md.drop_ctl);
            if (md.meta.base.copy_kind == NotificationKind.FAST_CNP) {
                fast_cnp.apply(hdr.p, md.meta);
            }
            path_copy.apply(hdr, md.meta.base);
#if HAS_FANTEL
            hdr.arrival.setInvalid();
#endif
        } else if (eg_intr_md.egress_port != CPU_PORT) {
            take_time();
            queue_level.apply(
                eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth,
                md.meta.base);
            curve_marking.apply(eg_intr_md, md.meta.base);
            port_tx.count(eg_intr_md.egress_port, sizeInBytes(hdr.bridge) + ARRIVAL_LENGTH);
            hold_ask.apply(eg_intr_md, hdr, md);
            md.mirror.kind = md.meta.base.mode.congestion_kind;

            if (md.meta.base.level_notifies == 1 && BY_FLOW(md.meta.base.mode.congestion_kind) && FCN_PACKET(hdr)) {
                md.wanted = true;
            }
#if HAS_FLOW_CONTROL
            // A packet has one copy: what the neighbour is asked goes first.
            if (md.passed == 1) {
                md.wanted = false;
            }
#endif
            path_ask.apply(eg_intr_md, hdr, md);
            fast_cnp_gate.apply(
                md.wanted, false, hdr.p.outer_ipv6.flow_label[15:0], md.meta.base.level_interval, md.now,
                md.gate_passed);
            if (hdr.p.outer_ipv6.isValid() && md.meta.base.level_mark != Ecn.NOT_ECT) {
                ecn_mark.apply(hdr.p.outer_ipv6.ecn, md.meta.base.level_mark, md.marked);
            }
            if (md.marked) {
                ecn_marked.count(md.meta.base.level_mark);
            }
#if HAS_FANTEL
            if (md.passed == 1) {
                tell(1);
            } else if (md.asks) {
                tell(0);
            }
#endif
            if (md.wanted && md.gate_passed == 1) {
                notification_limit.apply(md.notification_color);
            }
#if HAS_FLOW_CONTROL
            if (md.passed == 1) {
                tell(1);
            } else if (md.asks && !md.wanted) {
                tell(0);
            }
#endif
            if (md.wanted) {
                if (md.gate_passed == 0) {
                    flow_interval_suppressed.count(md.mirror.kind);
                } else if (md.notification_color != GREEN) {
                    node_rate_suppressed.count(md.mirror.kind);
                } else {
                    notifications_triggered.count(md.mirror.kind);
                    copy_to_second_pass();
#if HAS_FANTEL
                    if (hdr.clock.isValid()) {
                        md.mirror.pass = PassType.MIRROR_OF_CLOCK;
                    }
#endif
                }
            }
        }
        hdr.bridge.setInvalid();
#if HAS_ARRIVAL
        if (!hdr.copy.isValid()) {
            hdr.arrival.setInvalid();
        }
#endif
    }
}

Pipeline(
    PIngressParser(), PIngress(), PIngressDeparser(),
    PEgressParser(), PEgress(), PEgressDeparser()) pipe;
Switch(pipe) main;
