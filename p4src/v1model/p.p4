// Transit node (P) for BMv2. Contents, in the order in which a packet is processed:
//
//   Clock               the packet that circulates: links and paths are looked at in turn
//   PortRole            accepts core ports only
//   PortMac, OtherStation  for this node, or for another station?
//   NotificationPort, NotificationSid  recognise notifications, which are not held and never cause another
//   Endpoint            underlay addresses and SIDs of this node
//   WanArrival          forwarding decision
//   Srv6End             next segment
//   Underlay            the WAN's routes, ECMP
//   LinkGuard           is the next hop alive?
//   QueueMark           egress: eight levels per port and queue; marking by probability, two-threshold mode
//   EcnMark             the mark of the level or the curve on the outer header
//   DomainMode, FastCnp copy of the packet in a congested queue -> Fast CNP -> second pass
//   EndConCnp           or, on the second pass, a CNP for the sender by way of END.CON
//   PathNotice          the ingress PE of a packet that met a dead next hop or a congested queue hears of its path: copy
//                       -> FantelMessage -> second pass
//   BfdHello            copy of the clock packet -> for the far end of a link -> second pass
//   ReceiveBfd          the far end says how the link is; parsed on a second pass
//   FlowControlMode     does this domain hold traffic?
//   ReceiveArn          a neighbour asks for it; parsed on a second pass
//   HeldTraffic, HeldFlow  what a hold of this packet would be about; a flow is parsed on a second pass
//   Holding             stops that traffic, and lets it go in its order
//   ArnUpstream         egress: the neighbour to ask
//   AskUpstream, SendArn  copy of a packet whose upstream neighbour is to hold -> ARN -> second pass
//   MakeCopies          egress: for the neighbour, and for the sender's PE or END.CON
#include "externs.p4"
#include "../common/base/sizes.p4"
#include "../common/base/types.p4"
#include "../common/base/flow_control_types.p4"
#include "../common/p/headers.p4"
#include "../common/p/metadata.p4"
#include "../common/base/port_role.p4"
#include "../common/base/port_mac.p4"
#include "../common/base/other_station.p4"
#include "../common/base/notification_port.p4"
#include "../common/base/endpoint.p4"
#include "../common/base/wan_arrival.p4"
#include "../common/base/srv6_end.p4"
#include "../common/base/underlay.p4"
#include "../common/base/rate_limits.p4"
#include "../common/base/domain_mode.p4"
#include "../common/base/queue_level.p4"
#include "../common/base/ecn_mark.p4"
#include "../common/base/marking_curve.p4"
#include "../common/base/srv6_parser.p4"
#include "../common/base/flow_control.p4"
#include "../common/base/held_traffic.p4"
#include "customer_label.p4"
#include "../common/base/held_flow.p4"
#include "../common/base/hold_level.p4"
#include "../common/base/hold_refusal.p4"
#include "../common/base/arn_upstream.p4"
#include "../common/base/arn_limit.p4"
#include "../common/base/arn.p4"
#include "../common/base/arn_traffic.p4"
#include "../common/base/arn_arrival.p4"
#include "../common/base/arn_parser.p4"
#include "../common/base/tunnel_parser.p4"
#include "../common/p/inner_parser.p4"
#include "../common/p/fast_cnp_profile.p4"
#include "../common/p/fast_cnp.p4"
#include "../common/p/end_con_cnp.p4"
#include "../common/p/end_con_profile.p4"
#include "../common/p/core_path.p4"
#include "../common/p/fantel_profile.p4"
#include "../common/base/clock_slot.p4"
#include "../common/base/bfd_session.p4"
#include "../common/base/bfd_machine.p4"
#include "../common/base/alternate.p4"
#include "../common/base/permille.p4"
#include "counters.p4"
#include "underlay_length.p4"
#include "notification_sid.p4"
#include "budget_gate.p4"
#include "marking_draw.p4"
#include "fast_cnp_checksum.p4"
#include "hold.p4"
#include "holding.p4"
#include "queue_mark.p4"
#include "arn_gate.p4"
#include "arn_checksum.p4"
#include "receive_arn.p4"
#include "ask_upstream.p4"
#include "send_arn.p4"
#include "make_copies.p4"
#include "link_registers.p4"
#include "port_sent.p4"
#include "bfd_checksum.p4"
#include "receive_bfd.p4"
#include "bfd_hello.p4"
#include "link_guard.p4"
#include "link_timer.p4"
#include "link_load.p4"
#include "path_news.p4"
#include "load_news.p4"
#include "clock.p4"
#include "path_notice.p4"
#include "fantel_message.p4"
#include "cnp_udp_checksum.p4"
#include "p_parser.p4"

control PVerifyChecksum(inout p_headers_t hdr, inout p_meta_t meta) {
    apply { }
}

control PIngress(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    PortRole() port_role;
    PortMac() port_mac;
    OtherStation() other_station;
    UnderlayLength() underlay_length;
    NotificationPort() notification_port;
    NotificationSid() notification_sid;
    Endpoint() endpoint;
    WanArrival() wan_arrival;
    Srv6End() srv6_end;
    Underlay() underlay;
    FlowControlMode() flow_control;
    ReceiveArn() receive_arn;
    HeldTraffic() held_traffic;
    HeldFlow() held_flow;
    Holding() holding;
    PuntLimit() punt_limit;
    EndConCnp() end_con_cnp;
    Clock() clock;
    ReceiveBfd() receive_bfd;
    LinkGuard() link_guard;

    action finish_at_cpu() {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = meta.base.ingress_port;
        hdr.packet_in.reason = meta.base.punt_reason;
        hdr.packet_in.vlan_id = 0;
        hdr.packet_in.vrf = 0;
        standard_metadata.egress_spec = CPU_PORT;
    }

    apply {
        if (hdr.packet_out.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }

        // The packet was for this node and is used up.
        bool is_done = false;
        port_t hold_port = 0;
        flow_control.apply(meta.flow_control);
        // BMv2 pays for each condition: what most packets are not comes in one.
        if (standard_metadata.instance_type == INSTANCE_RECIRCULATED) {
            if (meta.base.is_clock == 1) {
                bool is_over;
                clock.apply(
                    hdr.clock, meta.flow_control.now, hdr.arn_envelope, hdr.order, meta.base,
                    meta.flow_control.upstream_port, is_over);
                if (is_over) {
                    mark_to_drop(standard_metadata);
                } else {
                    if (hdr.order.is_wanted == 1) {
                        notifications_triggered.count(NotificationKind.FANTEL);
                        meta.base.copy_kind = NotificationKind.FANTEL;
                    }
                    standard_metadata.egress_spec = CLOCK_PORT;
                }
                exit;
            }
            if (meta.flow_control.is_parked == 1) {
                meta.flow_control.request = HoldRequest.TURN;
                meta.base.egress_port = meta.flow_control.egress_port;
            } else {
                meta.base.notification_kind = meta.base.copy_kind;
                if (meta.base.copy_kind == NotificationKind.ARN || meta.base.copy_kind == NotificationKind.HELLO) {
                    meta.base.egress_port = meta.flow_control.upstream_port;
                } else {
                    meta.base.forward = Forward.UNDERLAY;
                }
                if (meta.base.copy_kind == NotificationKind.END_CON_CNP) {
                    bool made;
                    end_con_cnp.apply(hdr, made);
                    if (!made) {
                        // The packet itself has left: nothing is lost but the copy.
                        events.count(Event.INNER_OPAQUE);
                        mark_to_drop(standard_metadata);
                        exit;
                    }
                }
                notifications_sent.count(meta.base.copy_kind);
                truncate((bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len));
            }
        } else {
            if (meta.flow_control.parse_more == ParseMore.NONE) {
                meta.base.ingress_port = standard_metadata.ingress_port;
                port_rx.count(meta.base.ingress_port);
                meta.flow_control.now = standard_metadata.ingress_global_timestamp;
                last_heard.write(meta.base.ingress_port, standard_metadata.ingress_global_timestamp);
                last_heard.write(CLOCK_PORT, standard_metadata.ingress_global_timestamp);
            }
            meta.flow_control.arrived_dst = hdr.outer_ipv6.dst;
            if (meta.flow_control.mode != FlowControl.OFF) {
                meta.flow_control.upstream_port = meta.base.ingress_port;
            }
            port_role.apply(meta.base);
            port_mac.apply(hdr.ethernet, meta.base);
            other_station.apply(hdr.ethernet, meta.base);
            if (meta.base.drop_reason == DropReason.NONE && hdr.outer_ipv6.isValid()) {
                bit<32> ip_octets = standard_metadata.packet_length - (bit<32>)ETHERNET_LENGTH;
                underlay_length.apply(hdr.outer_ipv6, ip_octets, meta.base);
            }
            if (meta.base.drop_reason == DropReason.NONE) {
                meta.base.is_arp = hdr.ethernet.ether_type == EtherType.ARP;
                if (hdr.outer_udp.isValid()) {
                    notification_port.apply(hdr.outer_udp.dst_port, meta.base);
                }
                endpoint.apply(hdr.outer_ipv6.dst, meta.base);
                if (meta.flow_control.mode != FlowControl.OFF) {
                    notification_sid.apply(hdr.outer_ipv6.dst, meta.base);
                }
                if (standard_metadata.parser_error != error.NoError
                        && meta.flow_control.parse_more == ParseMore.NONE) {
                    meta.base.is_malformed = true;
                }
                wan_arrival.apply(hdr.outer_ipv6, meta.base);
                if (meta.base.destination == Destination.END_SID
                        && meta.base.forward == Forward.UNDERLAY) {
                    srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
                }
            }
            if (meta.base.punt_reason == PuntReason.UNDERLAY_LOCAL) {
                ParseMore message = ParseMore.NONE;
                if (meta.base.notification_kind == NotificationKind.ARN
                        && meta.flow_control.mode != FlowControl.OFF) {
                    message = ParseMore.ARN;
                } else if (hdr.outer_udp.isValid() && hdr.outer_udp.dst_port == UdpPort.BFD) {
                    message = ParseMore.BFD;
                }
                if (message != ParseMore.NONE) {
                    if (meta.flow_control.parse_more == ParseMore.NONE) {
                        meta.flow_control.parse_more = message;
                        resubmit_preserving_field_list(KEEP_FLAT);
                        exit;
                    }
                    meta.base.punt_reason = PuntReason.NONE;
                    is_done = true;
                }
                if (message == ParseMore.ARN) {
                    hold_port = meta.base.ingress_port;
                    receive_arn.apply(
                        meta.base.ingress_port, hdr.outer_ipv6, hdr.outer_udp, hdr.arn,
                        standard_metadata.parser_error == error.NoError, meta.flow_control,
                        meta.base.drop_reason);
                } else if (message == ParseMore.BFD) {
                    notifications_received.count(NotificationKind.HELLO);
                    receive_bfd.apply(
                        meta.base.ingress_port, hdr.outer_ipv6, hdr.outer_udp, hdr.bfd,
                        standard_metadata.parser_error == error.NoError, meta.base.drop_reason);
                }
            }
        }

        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            // Notifications are not held.
            bool may_wait = meta.flow_control.mode != FlowControl.OFF
                && meta.base.notification_kind == NotificationKind.NONE;
            if (may_wait && meta.flow_control.mode == FlowControl.FLOW) {
                if (meta.flow_control.parse_more == ParseMore.NONE) {
                    meta.flow_control.parse_more = ParseMore.INNER;
                    resubmit_preserving_field_list(KEEP_FLAT);
                    exit;
                }
                // A sub-parser that fails loses what it has extracted.
                if (meta.flow_control.parse_more == ParseMore.INNER
                        && standard_metadata.parser_error != error.NoError) {
                    meta.flow_control.parse_more = ParseMore.NOTHING;
                    resubmit_preserving_field_list(KEEP_FLAT);
                    exit;
                }
            }
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta.base);
            link_guard.apply(hdr.outer_ipv6.dst, hdr.ethernet, meta.base, hdr.order);
            if (may_wait && meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE) {
                if (meta.flow_control.mode == FlowControl.FLOW) {
                    held_flow.apply(
                        hdr.outer_ipv6, hdr.srv6, hdr.tunnel, hdr.inner.ipv4, hdr.inner.ipv6,
                        hdr.inner.udp, false, meta.flow_control);
                } else {
                    held_traffic.apply(
                        hdr.outer_ipv6, hdr.outer_ipv6.dst, hdr.outer_udp.isValid(), hdr.outer_udp,
                        meta.flow_control);
                }
                if (meta.flow_control.is_named) {
                    meta.flow_control.request = HoldRequest.PASS;
                    hold_port = meta.base.egress_port;
                }
            }
        }
        if (meta.flow_control.request != HoldRequest.NONE
                && meta.base.drop_reason == DropReason.NONE) {
            holding.apply(
                hold_port, (bit<16>)standard_metadata.packet_length, ALL_ROOM, meta.base, meta.flow_control);
        }

        if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason != PuntReason.NONE) {
            color_t punt_color = GREEN;
            punt_limit.apply(meta.base.vrf, punt_color);
            if (punt_color != GREEN) {
                vrf_refused.count(VRF_CELL(meta.base.vrf));
                meta.base.drop_reason = DropReason.PUNT_RATE_LIMIT;
            }
        }
        if (meta.base.drop_reason != DropReason.NONE) {
            drops.count(meta.base.drop_reason);
            // What has no next hop is looked at once more in egress, for the message about it.
            if (meta.base.drop_reason == DropReason.LINK_DOWN && hdr.order.isValid()) {
                standard_metadata.egress_spec = RECIRC_PORT;
            } else {
                mark_to_drop(standard_metadata);
            }
        } else if (meta.base.punt_reason != PuntReason.NONE) {
            punts.count(meta.base.punt_reason);
            finish_at_cpu();
        } else if (is_done) {
            mark_to_drop(standard_metadata);
        } else {
            standard_metadata.egress_spec = meta.base.egress_port;
        }
    }
}

control PEgress(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    QueueMark() queue_mark;
    PortSent() port_sent;
    EcnMark() ecn_mark;
    DomainMode() domain_mode;
    FastCnpProfile() fast_cnp_profile;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_sent;
    register<bit<96>, bit<1>>(1) line;
    BudgetGate(last_sent, line) fast_cnp_gate;
    BudgetTurn(last_sent, line) fast_cnp_turn;
    NotificationLimit() notification_limit;
    FastCnp() fast_cnp;
    FastCnpChecksum() fast_cnp_checksum;
    HeldTraffic() held_traffic;
    HeldFlow() held_flow;
    ArnUpstream() arn_upstream;
    AskUpstream() ask_upstream;
    SendArn() send_arn;
    MakeCopies() make_copies;
    EndConProfile() end_con_profile;
    CnpUdpChecksum() cnp_udp_checksum;
    BfdHello() bfd_hello;
    FantelMessage() fantel_message;
    PathNotice() path_notice;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && hdr.outer_ipv6.isValid()) {
            if (meta.flow_control.mode == FlowControl.FLOW) {
                held_flow.apply(
                    hdr.outer_ipv6, hdr.srv6, hdr.tunnel, hdr.inner.ipv4, hdr.inner.ipv6,
                    hdr.inner.udp, false, meta.flow_control);
            } else {
                held_traffic.apply(
                    hdr.outer_ipv6, meta.flow_control.arrived_dst, hdr.outer_udp.isValid(),
                    hdr.outer_udp, meta.flow_control);
            }
            arn_upstream.apply(hdr.arn_envelope, meta.flow_control);
        }
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE
                && standard_metadata.egress_rid == COPY_THAT_ASKS) {
            meta.base.copy_kind = NotificationKind.ARN;
        }
        if (meta.base.copy_kind != NotificationKind.NONE) {
            fast_cnp_profile.apply(hdr.fast_cnp_profile);
        }
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            if (meta.base.copy_kind == NotificationKind.ARN) {
                send_arn.apply(
                    hdr.ethernet, hdr.outer_ipv6, hdr.srv6, hdr.outer_udp, hdr.arn, hdr.arn_envelope,
                    meta.base.copy_level, 0, meta.flow_control);
            } else {
                if (meta.base.copy_kind == NotificationKind.FAST_CNP) {
                    bit<16> checksum;
                    fast_cnp.apply(hdr, meta);
                    fast_cnp_checksum.apply(hdr.outer_ipv6, hdr.outer_udp, hdr.fast_cnp, checksum);
                    hdr.outer_udp.checksum = checksum;
                    truncate((bit<32>)FAST_CNP_FRAME_LENGTH);
                } else if (meta.base.copy_kind == NotificationKind.HELLO) {
                    bfd_hello.apply(
                        hdr.arn_envelope, hdr.order, hdr.ethernet, hdr.clock, hdr.outer_ipv6, hdr.outer_udp,
                        hdr.bfd);
                } else if (meta.base.copy_kind == NotificationKind.FANTEL) {
                    fantel_message.apply(hdr, meta.flow_control.arrived_dst);
                } else {
                    truncate((bit<32>)END_CON_COPY_LENGTH);
                }
                recirculate_preserving_field_list(KEEP_COPY);
            }
        } else if (standard_metadata.egress_port == CLOCK_PORT) {
            if (meta.base.copy_kind != NotificationKind.NONE) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
            }
            meta.base.is_clock = 1;
            meta.flow_control.now = standard_metadata.egress_global_timestamp;
            recirculate_preserving_field_list(KEEP_CLOCK);
        } else if (standard_metadata.egress_port != CPU_PORT) {
            bool parked = standard_metadata.egress_port == PARK_PORT;
            NotificationKind asks = NotificationKind.NONE;
            NotificationKind tells = NotificationKind.NONE;
            if (meta.flow_control.has_upstream
                    && meta.base.notification_kind == NotificationKind.NONE) {
                ask_upstream.apply(standard_metadata, parked, 0, meta.flow_control, asks);
            }
            if (parked) {
                make_copies.apply(tells, asks, meta.base);
                meta.flow_control.now = standard_metadata.egress_global_timestamp;
                recirculate_preserving_field_list(KEEP_PARKED);
                exit;
            }
            port_tx.count(standard_metadata.egress_port);
            queue_mark.apply(standard_metadata, meta.flow_control.mode, meta.base);
            port_sent.apply(
                standard_metadata, meta.base.level,
                (bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len));

            bool marked = false;
            // Read before marking changes the ECN field.
            bool is_ect = hdr.outer_ipv6.isValid() && hdr.outer_ipv6.ecn != Ecn.NOT_ECT;
            if (is_ect && meta.base.level_mark != Ecn.NOT_ECT) {
                ecn_mark.apply(hdr.outer_ipv6.ecn, meta.base.level_mark, marked);
                if (marked) {
                    ecn_marked.count(meta.base.level_mark);
                }
            }

            // FCN-8: an ECN-capable packet with an FCN label that is no notification itself.
            if (is_ect && meta.base.level_notifies == 1 && !hdr.order.isValid()
                    && meta.base.notification_kind == NotificationKind.NONE
                    && hdr.outer_ipv6.flow_label & FCN_LABEL_BIT != 0) {
                domain_mode.apply(meta.base);
                if (meta.base.mode.congestion_kind == NotificationKind.FANTEL) {
                    last_congested.write(
                        standard_metadata.egress_port, standard_metadata.egress_global_timestamp);
                    hdr.order.setValid();
                    hdr.order.report = PathReport.CONGESTED;
                    hdr.order.port = standard_metadata.egress_port;
                    hdr.order.level = (bit<8>)meta.base.level;
                    hdr.order.depth = (bit<32>)standard_metadata.deq_qdepth;
                } else if (meta.base.mode.congestion_kind != NotificationKind.NONE) {
                    bool due = false;
                    bool may_ask = false;
                    bit<32> cell = 0;
                    bit<16> index = hdr.outer_ipv6.flow_label[15:0];
                    color_t color = RED;
                    NotificationKind kind = meta.base.mode.congestion_kind;
                    fast_cnp_gate.apply(
                        index, meta.base.level_interval, standard_metadata.egress_global_timestamp, cell, due, may_ask);
                    if (!due) {
                        flow_interval_suppressed.count(kind);
                    } else {
                        if (may_ask) {
                            notification_limit.apply(color);
                            fast_cnp_turn.apply(
                                index, standard_metadata.egress_global_timestamp, cell, color == GREEN, 0);
                        }
                        if (color != GREEN) {
                            node_rate_suppressed.count(kind);
                        } else {
                            notifications_triggered.count(kind);
                            tells = kind;
                            meta.base.copy_label = hdr.outer_ipv6.flow_label;
                        }
                    }
                }
            }

            // Of its path there is something to say.
            if (hdr.order.isValid()) {
                if (meta.base.notification_kind == NotificationKind.NONE) {
                    path_notice.apply(
                        hdr.outer_ipv6, hdr.srv6.srh, standard_metadata.egress_global_timestamp, hdr.order);
                    color_t color = GREEN;
                    if (hdr.order.is_wanted == 1) {
                        notification_limit.apply(color);
                    }
                    if (color != GREEN) {
                        node_rate_suppressed.count(NotificationKind.FANTEL);
                    } else if (hdr.order.is_wanted == 1) {
                        notifications_triggered.count(NotificationKind.FANTEL);
                        tells = NotificationKind.FANTEL;
                    }
                }
                // It came for this only: it has no next hop.
                if (standard_metadata.egress_port == RECIRC_PORT) {
                    mark_to_drop(standard_metadata);
                }
            }
            make_copies.apply(tells, asks, meta.base);

            if (hdr.inner.cnp_payload.isValid()) {
                end_con_profile.apply(hdr);
                if (hdr.inner.ipv6.isValid()) {
                    cnp_udp_checksum.apply(
                        hdr.inner.ipv6, hdr.inner.bth, hdr.inner.cnp_payload, hdr.inner.udp);
                }
            }
        }
    }
}

control PComputeChecksum(inout p_headers_t hdr, inout p_meta_t meta) {
    apply {
        update_checksum(
            hdr.inner.cnp_payload.isValid() && hdr.inner.ipv4.isValid(),
            { hdr.inner.ipv4.version, hdr.inner.ipv4.ihl, hdr.inner.ipv4.dscp, hdr.inner.ipv4.ecn,
              hdr.inner.ipv4.total_len, hdr.inner.ipv4.identification, hdr.inner.ipv4.flags,
              hdr.inner.ipv4.frag_offset, hdr.inner.ipv4.ttl, hdr.inner.ipv4.protocol,
              hdr.inner.ipv4.src, hdr.inner.ipv4.dst },
            hdr.inner.ipv4.checksum, HashAlgorithm.csum16);
    }
}

V1Switch(PParser(), PVerifyChecksum(), PIngress(), PEgress(), PComputeChecksum(), PDeparser()) main;
