#ifndef FCN_PE_EGRESS_P4
#define FCN_PE_EGRESS_P4

// When the last copy of a packet in a congested queue was made, in microseconds: BMv2 has no time of arrival for what
// is processed a second time.
register<bit<48>, bit<1>>(1) copy_time;

// Of a pause, in microseconds; controller/config/check_pauses.py sees to it that it is said again before
const flow_label_t LONGEST_SAID = 0xfffff;

// PeEgress: everything behind the queue; pe.p4 lists its controls.
control PeEgress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    QueueMark() queue_mark;
    PortSent() port_sent;
    EcnMark() ecn_mark_outer;
    EcnMark() ecn_mark_ipv4;
    EcnMark() ecn_mark_ipv6;
    Ipv4Checksum() ipv4_checksum;
    FlowGate() own_congestion_gate;
    CnpUdpChecksum() cnp_udp_checksum;
    HeldTraffic() held_traffic;
    HeldFlow() held_flow;
    ArnUpstream() arn_upstream;
    DcRelief() dc_relief;
    HeldPriority() held_priority;
    AskUpstream() ask_upstream;
    SendArn() send_arn;
    MakeCopies() make_copies;
    Pause() pause;
    BfdHello() bfd_hello;
    TellIngressPe() tell_ingress_pe;
    IngressPeNotice() ingress_pe_notice;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && hdr.outer_ipv6.isValid()) {
            if (meta.flow_control.mode == FlowControl.FLOW) {
                held_flow.apply(
                    hdr.outer_ipv6, hdr.srv6, hdr.tunnel, hdr.ipv4, hdr.ipv6, hdr.udp,
                    FLOW_IS_HIDDEN(hdr, meta), meta.flow_control);
            } else {
                held_traffic.apply(
                    hdr.outer_ipv6, meta.flow_control.arrived_dst, hdr.tunnel.udp.isValid(),
                    hdr.tunnel.udp, meta.flow_control);
            }
            arn_upstream.apply(hdr.arn_envelope, meta.flow_control);
            // What waits, or waited, for one data centre says nothing of the queue that another is paused for.
            if (!meta.flow_control.has_upstream && meta.flow_control.parse_more != WAITED_FOR_DC
                    && standard_metadata.instance_type != INSTANCE_INGRESS_CLONE
                    && standard_metadata.instance_type != INSTANCE_EGRESS_CLONE) {
                dc_relief.apply(meta.flow_control);
                if (meta.flow_control.relief == Relief.PAUSE) {
                    held_priority.apply(meta.flow_control);
                }
            }
        }
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            if (standard_metadata.egress_rid == COPY_THAT_TELLS) {
                meta.flow_control.arn_type = ArnType.NONE;
            } else if (standard_metadata.egress_rid == COPY_THAT_ASKS) {
                meta.base.copy_kind = NotificationKind.PAUSE;
                if (meta.flow_control.has_upstream) {
                    meta.base.copy_kind = NotificationKind.ARN;
                }
            }
            if (meta.base.copy_kind == NotificationKind.ARN) {
                hdr.tunnel.gre.setInvalid();
                hdr.tunnel.gre_key.setInvalid();
                // See below; the only copy of its packet.
                microseconds_t longest = 0;
                if (standard_metadata.egress_rid != COPY_THAT_ASKS) {
                    longest = (microseconds_t)meta.base.copy_label;
                }
                send_arn.apply(
                    hdr.ethernet, hdr.outer_ipv6, hdr.srv6, hdr.tunnel.udp, hdr.arn, hdr.arn_envelope,
                    meta.base.copy_level, longest, meta.flow_control);
            } else {
                if (meta.base.copy_kind == NotificationKind.PAUSE) {
                    pause.apply(hdr.ethernet, hdr.pause, meta.flow_control);
                    truncate(PAUSE_FRAME_LENGTH);
                } else if (meta.base.copy_kind == NotificationKind.HELLO) {
                    bfd_hello.apply(
                        hdr.arn_envelope, hdr.order, hdr.ethernet, hdr.clock, hdr.outer_ipv6, hdr.tunnel.udp,
                        hdr.bfd);
                } else if (IS_FOR_INGRESS_PE(meta.base.copy_kind)) {
                    ingress_pe_notice.apply(hdr, meta.base, meta.make_cnp);
                    truncate((bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len));
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
        } else {
            bool parked = standard_metadata.egress_port == PARK_PORT;
            // The copy of a packet that waited for a data centre and leaves
            bool ends_wait = standard_metadata.instance_type == INSTANCE_INGRESS_CLONE;
            // How long a data centre's pause goes on. An ARN says no more than that: nothing else is told by a packet that
            // waits for a data centre, so that copy_label has room for the time.
            microseconds_t pause_left = 0;
            if (ends_wait) {
                meta.flow_control.queue = QueueState.RELIEVED;
            } else if (parked && meta.flow_control.parse_more == WAITED_FOR_DC) {
                bit<48> end;
                hold_ends.read(end, meta.flow_control.cell);
                if (end > standard_metadata.egress_global_timestamp) {
                    meta.flow_control.queue = QueueState.CONGESTED;
                    pause_left = (microseconds_t)(end - standard_metadata.egress_global_timestamp);
                    meta.base.copy_label = LONGEST_SAID;
                    if (pause_left < (microseconds_t)LONGEST_SAID) {
                        meta.base.copy_label = (flow_label_t)pause_left;
                    }
                }
            }
            bool wants_cnp = false;
            NotificationKind asks = NotificationKind.NONE;
            NotificationKind tells = NotificationKind.NONE;
            if (meta.flow_control.mode != FlowControl.OFF) {
                if ((meta.flow_control.has_upstream || meta.flow_control.relief != Relief.NONE)
                        && (meta.encapsulated || meta.base.notification_kind == NotificationKind.NONE)) {
                    ask_upstream.apply(standard_metadata, parked, pause_left, meta.flow_control, asks);
                    wants_cnp = meta.flow_control.relief == Relief.CNP
                        && (meta.flow_control.queue == QueueState.CONGESTED
                            || meta.flow_control.budget == QueueState.CONGESTED);
                }
            }
            if (standard_metadata.egress_port != CPU_PORT && !parked && !ends_wait) {
                port_tx.count(standard_metadata.egress_port);
                queue_mark.apply(standard_metadata, meta.flow_control.mode, meta.base);
                bit<32> octets = standard_metadata.packet_length;
                if (hdr.outer_ipv6.isValid()) {
                    octets = (bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len);
                }
                port_sent.apply(standard_metadata, meta.base.level, octets);
            }

            if (meta.base.level_notifies == 1 && hdr.outer_ipv6.isValid()) {
                last_congested.write(standard_metadata.egress_port, standard_metadata.egress_global_timestamp);
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

            // FCN-12: this node is the ingress PE of the flow, so it sends the CNP itself; also for what is congested
            // farther on the path (FAN-6).
            bool level_tells = meta.base.level_notifies == 1
                && meta.base.mode.congestion_kind != NotificationKind.NONE;
            // A message about a path is for so many senders and no more (ALL-4).
            bool is_of_path = meta.path_cnp_interval != 0 && meta.flow_label_assigned && !level_tells && !wants_cnp;
            bit<16> left = 0;
            if (is_of_path) {
                path_cnps.read(left, meta.path_cnp_policy);
                if (left == 0) {
                    meta.path_cnp_interval = 0;
                    node_rate_suppressed.count(NotificationKind.CNP);
                }
            }
            if ((level_tells || wants_cnp || meta.path_cnp_interval != 0)
                    && meta.base.copy_kind == NotificationKind.NONE
                    && meta.flow_label_assigned && meta.customer_ecn != Ecn.NOT_ECT) {
                bool pass = false;
                microseconds_t interval = meta.path_cnp_interval;
                // What is congested here is said as often as if nothing else were.
                if (wants_cnp) {
                    // The copy is for the sender on this ground, too.
                    meta.flow_control.arn_type = ArnType.DETECTED;
                    interval = meta.flow_control.refresh;
                    if (level_tells && meta.base.level_interval < interval) {
                        interval = meta.base.level_interval;
                    }
                } else if (level_tells) {
                    interval = meta.base.level_interval;
                }
                own_congestion_gate.apply(
                    meta.flow_label, interval,
                    standard_metadata.egress_global_timestamp, pass);
                if (pass) {
                    notifications_triggered.count(NotificationKind.CNP);
                    tells = NotificationKind.CNP;
                    meta.base.copy_label = meta.flow_label;
                    copy_time.write(0, standard_metadata.egress_global_timestamp);
                } else if (!parked) {
                    flow_interval_suppressed.count(NotificationKind.CNP);
                }
            }
            // FCN-18: the tunnel ended here, so the ingress PE is another node.
            if (level_tells && hdr.order.isValid() && !hdr.outer_ipv6.isValid()) {
                tell_ingress_pe.apply(
                    hdr.roce.bth, hdr.order, standard_metadata.egress_global_timestamp, meta.base, tells);
            }
            // What was not asked after all: the copy that tells says no more than its level.
            if (asks == NotificationKind.NONE && !wants_cnp) {
                meta.flow_control.arn_type = ArnType.NONE;
            }
            make_copies.apply(tells, asks, meta.base);
            if (is_of_path && tells != NotificationKind.NONE) {
                path_cnps.write(meta.path_cnp_policy, left - 1);
            }
            if (parked) {
                meta.flow_control.now = standard_metadata.egress_global_timestamp;
                recirculate_preserving_field_list(KEEP_PARKED);
                exit;
            }
            if (ends_wait) {
                mark_to_drop(standard_metadata);
                exit;
            }

            if (meta.make_cnp && hdr.ipv6.isValid()) {
                cnp_udp_checksum.apply(
                    hdr.ipv6, hdr.roce.bth, hdr.roce.cnp_payload, hdr.udp);
            }
        }
    }
}

#endif
