// Provider edge (PE) for BMv2. Contents, in the order in which a packet is processed:
//
//   Clock               the packet that circulates: links and paths are looked at in turn
//   PortRole            DC or core port; VRF of a customer
//   PortMac, OtherStation  for this node, or for another station?
//   DomainMode          notifications sent and translated by this node
//   LightCongestion     two-threshold mode: for how long lightly congested flows are treated
//   NotificationPort    Fast CNP?
//   CustomerPacket      fields of the customer's packet for later controls
//   Gateway             ARP and neighbour discovery for the gateways of customers
//   UnderlayLookup      from the WAN: Endpoint, ServiceSid, TrustBoundary; FlowByLabel or TunnelVrf
//   NotificationSid     a notification on its way to another PE?
//   EndCon              around it: is a packet to an END.CON SID a CNP for the sender of its flow?
//   NodeMessage         a neighbour asks to hold (ReceiveArn), a node on the way speaks of a path (ReceiveFantel), the far
//                       end of a link says how it is (ReceiveBfd)
//   Arrival             class of the packet, then the forwarding decision
//   LightNotification   two-threshold mode: what says light congestion ends here
//   PathState           which paths have failed or are congested; is none left?
//   TunnelDecap         the underlay headers are removed; EcnDecap
//   SenderNotification  both rate limits, CnpGenerator, Icrc
//   VrfRouting, VlanTag the customer's routes
//   EnterTunnel         ChoosePath, where the route names a policy; FlowTable, Report: flow label, learning;
//                       LightTreatment: lightly congested flows are slowed down or rerouted; TunnelEncap
//   Srv6End             next segment
//   Underlay            the WAN's routes, ECMP
//   LinkGuard           is the next hop alive?
//   FlowControlMode     does this domain hold traffic?
//   Pauses, WaitForDc   a data centre pauses its port: what leaves by it waits
//   HeldTraffic, HeldFlow, Holding  stops that traffic, and lets it go in its order
//   ArnUpstream, DcRelief  egress (pe_egress.p4): whom to ask, a neighbour or a data centre
//   AskUpstream         copy of a packet that is to be held there -> SendArn, or Pause for a data centre -> second pass
//   RememberTunnel, TellIngressPe  egress PE: copy of a packet that met the congested port of a data centre ->
//                       IngressPeNotice, a Fast CNP or a CNP by way of END.CON -> second pass
//   MakeCopies          egress: for the neighbour, and for the sender
//   QueueMark           mark, also by probability in two-threshold mode; own congestion -> copy -> SenderNotification
#include "externs.p4"
#include "../common/base/sizes.p4"
#include "../common/base/types.p4"
#include "../common/base/flow_control_types.p4"
#include "../common/pe/headers.p4"
#include "../common/pe/metadata.p4"
#include "../common/pe/digests.p4"
#include "../common/base/port_role.p4"
#include "../common/base/port_mac.p4"
#include "../common/base/other_station.p4"
#include "../common/base/notification_port.p4"
#include "../common/base/endpoint.p4"
#include "../common/pe/trust_boundary.p4"
#include "../common/pe/service_sid.p4"
#include "../common/pe/tunnel_vrf.p4"
#include "../common/pe/flow_by_label.p4"
#include "../common/pe/end_con.p4"
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
#include "../common/pe/light_congestion.p4"
#include "../common/pe/light_policy.p4"
#include "../common/pe/cnp_profile.p4"
#include "../common/pe/cnp_generator.p4"
#include "../common/pe/tunnel_decap.p4"
#include "../common/pe/ecn_decap.p4"
#include "../common/pe/vrf_routing.p4"
#include "../common/pe/vlan_tag.p4"
#include "../common/pe/path_selection.p4"
#include "../common/base/clock_slot.p4"
#include "../common/base/bfd_session.p4"
#include "../common/base/bfd_machine.p4"
#include "../common/base/alternate.p4"
#include "../common/base/permille.p4"
#include "../common/base/fantel_parser.p4"
#include "../common/base/fantel_length.p4"
#include "../common/pe/fantel_arrival.p4"
#include "../common/pe/flow_table.p4"
#include "../common/pe/flow_learning.p4"
#include "../common/pe/tunnel_encap.p4"
#include "../common/base/srv6_end.p4"
#include "../common/base/underlay.p4"
#include "../common/base/rate_limits.p4"
#include "../common/base/queue_level.p4"
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
#include "../common/pe/dc_relief.p4"
#include "../common/pe/held_priority.p4"
#include "../common/pe/pause.p4"
#include "../common/base/ecn_mark.p4"
#include "../common/base/marking_curve.p4"
#include "../common/base/srv6_parser.p4"
#include "../common/base/tunnel_parser.p4"
#include "../common/pe/roce_parser.p4"
#include "../common/pe/neighbor_parser.p4"
#include "counters.p4"
#include "underlay_length.p4"
#include "frame_length.p4"
#include "flow_gate.p4"
#include "budget_gate.p4"
#include "marking_draw.p4"
#include "light_notification.p4"
#include "flow_policer.p4"
#include "light_treatment.p4"
#include "ipv4_checksum.p4"
#include "entropy.p4"
#include "path_state.p4"
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
#include "flowlet.p4"
#include "choose_path.p4"
#include "receive_fantel.p4"
#include "icrc.p4"
#include "fast_cnp_checksum.p4"
#include "cnp_udp_checksum.p4"
#include "hold.p4"
#include "holding.p4"
#include "receive_pause.p4"
#include "queue_mark.p4"
#include "arn_gate.p4"
#include "arn_checksum.p4"
#include "receive_arn.p4"
#include "ask_upstream.p4"
#include "notification_sid.p4"
#include "send_arn.p4"
#include "make_copies.p4"
#include "sender_notification.p4"
#include "tell_ingress_pe.p4"
#include "report.p4"
#include "solicitation_parser.p4"
#include "pe_parser.p4"
#include "node_message.p4"
#include "enter_tunnel.p4"
#include "pe_egress.p4"
#include "pe_checksums.p4"

control PeIngress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PortRole() port_role;
    PortMac() port_mac;
    OtherStation() other_station;
    NotificationPort() notification_port;
    FrameLength() frame_length;
    CutFrame() cut_frame;
    FastCnpChecksum() fast_cnp_checksum;
    DomainMode() domain_mode;
    LightCongestion() light_congestion;
    LightNotification() light_notification;
    CustomerPacket() customer_packet;
    Gateway() gateway;
    Advertisement() advertisement;
    UnderlayLookup() underlay_lookup;
    NotificationSid() notification_sid;
    EndConClaim() end_con_claim;
    EndConCheck() end_con_check;
    Arrival() arrival;
    RememberTunnel() remember_tunnel;
    TunnelDecap() tunnel_decap;
    SenderNotification() sender_notification;
    EcnDecap() ecn_decap;
    VrfRouting() vrf_routing;
    VlanTag() vlan_tag;
    Ipv4Checksum() ipv4_checksum;
    CustomerRewrite() customer_rewrite;
    EnterTunnel() enter_tunnel;
    Srv6End() srv6_end;
    Underlay() underlay;
    FlowControlMode() flow_control;
    NodeMessage() node_message;
    PathState() path_state;
    Clock() clock;
    LinkGuard() link_guard;
    HeldTraffic() held_traffic;
    HeldFlow() held_flow;
    Holding() holding;
    Pauses() pauses;
    WaitForDc() wait_for_dc;
    PuntLimit() punt_limit;
    ReportNeighbor() report_neighbor;

    // On a core port, the packet parsed as a customer's packet is an underlay packet.
    action take_as_underlay() {
        hdr.outer_ipv6 = hdr.ipv6;
        hdr.ipv6.setInvalid();
    }

    // An underlay datagram in no tunnel: its UDP header is the underlay's.
    action take_udp_as_underlay() {
        hdr.tunnel.udp = hdr.udp;
        hdr.udp.setInvalid();
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
        if (hdr.packet_out.isValid() && !hdr.path_report.isValid()) {
            standard_metadata.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            exit;
        }

        bit<48> now = standard_metadata.ingress_global_timestamp;
        // Also used in egress
        domain_mode.apply(meta.base);
        light_congestion.apply(meta);
        flow_control.apply(meta.flow_control);
        // Made or parked here: where it goes is known.
        bool is_settled = false;
        // The packet was for this node and is used up.
        bool is_done = false;
        port_t hold_port = 0;
        hold_room_t room = ALL_ROOM;
        bool is_pause = false;
        if (hdr.path_report.isValid()) {
            if (hdr.path_report.report == PathReport.FORGET) {
                reporter_order.write((reporter_cell_t)hdr.path_report.reporter, 0);
                hdr.path_report.setInvalid();
            }
            is_settled = true;
            is_done = true;
        } else if (standard_metadata.instance_type == INSTANCE_RECIRCULATED || meta.flow_control.is_parked == 1) {
            // BMv2 pays for each condition: what most packets are not comes in one.
            if (meta.base.is_clock == 1) {
                is_settled = true;
                is_done = true;
                bool is_over;
                now = meta.flow_control.now;
                clock.apply(
                    hdr.clock, now, hdr.arn_envelope, hdr.order, meta.base, meta.flow_control.upstream_port, is_over);
                if (is_over) {
                    meta.base.is_clock = 0;
                } else if (hdr.order.is_wanted == 1) {
                    hdr.path_report.setValid();
                    hdr.path_report.path_id = hdr.order.path_id;
                    hdr.path_report.reporter = PATH_BY_PE;
                    hdr.path_report.report = hdr.order.report;
                    hdr.path_report.load = PATH_LOAD(hdr.order.utilization, hdr.order.level);
                }
            } else if (meta.flow_control.is_parked == 1) {
                is_settled = true;
                meta.flow_control.request = HoldRequest.TURN;
                meta.base.egress_port = meta.flow_control.egress_port;
                if (!hdr.outer_ipv6.isValid()) {
                    take_as_underlay();
                }
            } else {
                if (meta.base.copy_kind == NotificationKind.ARN || meta.base.copy_kind == NotificationKind.HELLO
                        || meta.base.copy_kind == NotificationKind.PAUSE) {
                    is_settled = true;
                    meta.base.egress_port = meta.flow_control.upstream_port;
                    meta.base.notification_kind = meta.base.copy_kind;
                    notifications_sent.count(meta.base.copy_kind);
                    if (meta.base.copy_kind == NotificationKind.PAUSE) {
                        truncate(PAUSE_FRAME_LENGTH);
                    } else {
                        truncate((bit<32>)(hdr.ipv6.payload_len + IPV6_LENGTH + ETHERNET_LENGTH));
                    }
                } else if (IS_FOR_INGRESS_PE(meta.base.copy_kind)) {
                    is_settled = true;
                    if (!hdr.outer_ipv6.isValid()) {
                        take_as_underlay();
                    }
                    meta.base.forward = Forward.UNDERLAY;
                    meta.base.notification_kind = meta.base.copy_kind;
                    notifications_sent.count(meta.base.copy_kind);
                    truncate((bit<32>)(hdr.outer_ipv6.payload_len + IPV6_LENGTH + ETHERNET_LENGTH));
                } else {
                    meta.notify_label = meta.base.copy_label;
                    copy_time.read(now, 0);
                }
            }
        } else {
            if (meta.flat == 0 && meta.flow_control.parse_more == ParseMore.NONE) {
                meta.base.ingress_port = standard_metadata.ingress_port;
                port_rx.count(meta.base.ingress_port);
                meta.flow_control.now = standard_metadata.ingress_global_timestamp;
                last_heard.write(meta.base.ingress_port, standard_metadata.ingress_global_timestamp);
                last_heard.write(CLOCK_PORT, standard_metadata.ingress_global_timestamp);
            }
            // A second pass has no time of its own.
            now = meta.flow_control.now;
            if (hdr.vlan.isValid()) {
                meta.base.vlan_id = hdr.vlan.vlan_id;
            }
            port_role.apply(meta.base);
            if (meta.base.role == Role.DC) {
                // ICMPv6 of FANTEL's type from a customer is his own.
                meta.base.notification_kind = NotificationKind.NONE;
            }

            if (meta.base.role == Role.DC && hdr.outer_ipv6.isValid()) {
                // The customer's own tunnel: parse again as a customer packet.
                meta.flat = 1;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }

            port_mac.apply(hdr.ethernet, meta.base);
            other_station.apply(hdr.ethernet, meta.base);
            if (standard_metadata.parser_error != error.NoError) {
                meta.parse_failed = true;
            }
            if (standard_metadata.checksum_error == 1) {
                meta.ipv4_checksum_failed = true;
            }
            if (meta.base.drop_reason == DropReason.NONE) {
                frame_length.apply(hdr, standard_metadata.packet_length, meta.base);
            }
            is_pause = IS_PAUSE(hdr.ethernet);
            if (is_pause) {
                is_settled = true;
                is_done = true;
            }
            if (meta.flow_control.mode != FlowControl.OFF) {
                meta.flow_control.upstream_port = meta.base.ingress_port;
                // As in PAUSE frames: of the tag, or the class selector of the DSCP
                if (hdr.vlan.isValid()) {
                    meta.flow_control.dc_priority = hdr.vlan.pcp;
                } else if (hdr.ipv4.isValid()) {
                    meta.flow_control.dc_priority = hdr.ipv4.dscp[5:3];
                } else if (hdr.ipv6.isValid()) {
                    meta.flow_control.dc_priority = hdr.ipv6.dscp[5:3];
                }
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
                    meta.notification_sound = checksum == hdr.udp.checksum
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

        if (!is_settled && meta.base.drop_reason == DropReason.NONE) {
            if (meta.flow_control.mode != FlowControl.OFF) {
                meta.flow_control.arrived_dst = hdr.outer_ipv6.dst;
            }
            customer_packet.apply(hdr, meta);
            if (meta.flow_control.parse_more == ParseMore.FANTEL && hdr.arn.five_tuple.isValid()) {
                meta.notify_label = hdr.arn.five_tuple.label;
            }
            // Its flow is looked up as that of the form over UDP.
            if (hdr.fantel.icmpv6.isValid()) {
                meta.base.notification_kind = NotificationKind.FANTEL;
            }
            if (hdr.neighbor.arp.isValid() || hdr.neighbor.nd.isValid()) {
                meta.solicitation_sound = standard_metadata.checksum_error == 0;
                gateway.apply(hdr, meta);
                advertisement.apply(hdr, meta);
            }
            if (hdr.outer_ipv6.isValid()) {
                end_con_claim_t claim;
                bool is_sound;
                end_con_claim.apply(hdr, meta, claim, is_sound);
                underlay_lookup.apply(hdr, meta);
                if (meta.flow_control.mode != FlowControl.OFF) {
                    notification_sid.apply(hdr.outer_ipv6.dst, meta.base);
                }
                if (meta.base.copy_kind == NotificationKind.NONE
                        && meta.base.destination == Destination.END_CON) {
                    end_con_check.apply(hdr, claim, is_sound, meta);
                }
                if (meta.base.role == Role.CORE && meta.base.destination == Destination.NODE
                        && meta.base.is_addressed && !meta.base.is_malformed) {
                    node_message.apply(hdr, meta, standard_metadata, is_done, hold_port);
                }
            }
            if (!is_done) {
                arrival.apply(hdr, meta);
                if (meta.make_cnp && meta.light_hold != 0) {
                    light_notification.apply(hdr.fast_cnp, meta, now);
                    if (meta.light_told) {
                        events.count(Event.LIGHT_CONGESTION);
                        is_done = !meta.make_cnp;
                    }
                    if (!meta.make_cnp && meta.packet_class == PacketClass.NOTIFICATION) {
                        notifications_received.count(meta.base.notification_kind);
                    }
                }
            }
            if (meta.answered) {
                events.count(meta.event);
                vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
            }
        }

        if (hdr.path_report.isValid()) {
            bool nothing_left;
            path_state.apply(hdr.path_report, now, nothing_left);
            // FAN-4, FAN-6: then the sender is told, as by a Fast CNP.
            if (nothing_left && meta.notify_label & FCN_LABEL_BIT != 0 && meta.label_fault == DropReason.NONE
                    && meta.base.mode.translates != NotificationKind.NONE) {
                hdr.arn.five_tuple.setInvalid();
                hdr.arn.ipv4.setInvalid();
                hdr.arn.ipv6.setInvalid();
                hdr.arn.ports.setInvalid();
                is_done = false;
                meta.make_cnp = true;
                meta.base.forward = Forward.VRF;
            }
        }
        if (meta.base.forward == Forward.VRF && meta.base.drop_reason == DropReason.NONE) {
            if (hdr.outer_ipv6.isValid()) {
                if (!meta.make_cnp) {
                    remember_tunnel.apply(hdr.outer_ipv6, meta.base, hdr.order);
                }
                tunnel_decap.apply(hdr, meta);
                if (!meta.make_cnp) {
                    ecn_decap.apply(meta);
                }
                // What waited for a data centre was counted when it came.
                if (meta.event != Event.NONE && meta.flow_control.parse_more != WAITED_FOR_DC) {
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
            enter_tunnel.apply(hdr, meta, now);
        }

        if (meta.base.destination == Destination.END_SID && meta.base.forward == Forward.UNDERLAY) {
            srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
        }
        if (meta.flow_control.mode != FlowControl.OFF) {
            if (hdr.udp.isValid() && !hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
                take_udp_as_underlay();
            }
        }
        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta.base);
            link_guard.apply(hdr.outer_ipv6.dst, hdr.ethernet, meta.base, hdr.order);
            // Notifications are not held; a customer's packet is none, whatever its port.
            if (meta.flow_control.mode != FlowControl.OFF
                    && (meta.encapsulated || meta.base.notification_kind == NotificationKind.NONE)
                    && meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE) {
                if (meta.flow_control.mode == FlowControl.FLOW) {
                    held_flow.apply(
                        hdr.outer_ipv6, hdr.srv6, hdr.tunnel, hdr.ipv4, hdr.ipv6, hdr.udp,
                        FLOW_IS_HIDDEN(hdr, meta), meta.flow_control);
                } else {
                    held_traffic.apply(
                        hdr.outer_ipv6, hdr.outer_ipv6.dst, hdr.tunnel.udp.isValid(), hdr.tunnel.udp,
                        meta.flow_control);
                }
                if (meta.flow_control.is_named) {
                    meta.flow_control.request = HoldRequest.PASS;
                    hold_port = meta.base.egress_port;
                }
            }
        }
        if (is_pause
                || (meta.base.forward == Forward.VRF && meta.flow_control.mode != FlowControl.OFF
                    && meta.flow_control.parse_more != WAITED_FOR_DC && meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE && !meta.make_cnp && !is_done)) {
            pauses.apply(
                hdr.ipv4, hdr.ipv6, hdr.pause, is_pause, standard_metadata.packet_length, meta, hold_port, room);
        }
        if (meta.flow_control.request != HoldRequest.NONE
                && meta.base.drop_reason == DropReason.NONE) {
            holding.apply(
                hold_port, (bit<16>)standard_metadata.packet_length, room, meta.base, meta.flow_control);
            if (meta.base.forward == Forward.VRF || meta.flow_control.parse_more == WAITED_FOR_DC) {
                wait_for_dc.apply(meta);
            }
        }

        // What most packets are comes first: BMv2 pays for each condition.
        if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason == PuntReason.NONE
                && !meta.answered && !is_done) {
            standard_metadata.egress_spec = meta.base.egress_port;
            if (meta.make_cnp) {
                notifications_sent.count(NotificationKind.CNP);
                cut_frame.apply(hdr);
            }
            exit;
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
        } else if (is_done) {
            if (meta.base.is_clock == 1) {
                standard_metadata.egress_spec = CLOCK_PORT;
            } else {
                mark_to_drop(standard_metadata);
            }
        } else {
            standard_metadata.egress_spec = meta.base.egress_port;
        }
    }
}

V1Switch(
    PeParser(), PeVerifyChecksum(), PeIngress(), PeEgress(), PeComputeChecksum(), PeDeparser()) main;
