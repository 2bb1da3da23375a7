#ifndef FCN_FLOW_CONTROL_P4
#define FCN_FLOW_CONTROL_P4

// FlowControlMode: what neighbours stop for each other in this domain (SRF-6, FCN-16).
// Writes: meta.mode, meta.refresh: how often an ARN is repeated while a queue stays congested.
// When:   every packet, first.
control FlowControlMode(inout flow_control_meta_t meta) {
    action set_flow_control(FlowControl mode, microseconds_t refresh) {
        meta.mode = mode;
        meta.refresh = refresh;
    }

    PLACED(flow_control) @name(".flow_control")
    table flow_control {
        actions = {
            set_flow_control;
        }
        default_action = set_flow_control(FlowControl.OFF, 0);
    }

    apply {
        flow_control.apply();
    }
}

// HoldLevel: is the queue that the packet came from congested, or relieved?
// Reads:  egress port, queue, depth (in the target's unit).
// Writes: meta.queue.
// When:   packets of the underlay in egress, while flow control is on.
control HoldLevel(
        in port_t egress_port, in bit<5> queue_id, in bit<19> queue_depth,
        inout flow_control_meta_t meta) {
    action set_queue_state(QueueState state) {
        meta.queue = state;
    }
    action between() { }

    PLACED(hold_level) @name(".hold_level")
    table hold_level {
        key = {
            egress_port: exact @name("egress_port");
            queue_id: exact @name("queue_id");
            queue_depth: range @name("queue_depth");
        }
        actions = {
            @tableonly set_queue_state;
            @defaultonly between;
        }
        const default_action = between;
        size = HOLD_LEVEL_TABLE_SIZE;
    }

    apply {
        hold_level.apply();
    }
}

// ArnLimit: bounds the messages of flow control a node makes (FCN-15).
// Writes: color, GREEN when the message may go. Not configured, the meter lets everything pass.
// When:   a message has passed ArnGate.
control ArnLimit(inout color_t color) {
    METER(".arn_meter", arn_meter, bit<1>, 1)

    apply {
        EXECUTE_METER(arn_meter, 0, color)
    }
}

// HeldTraffic: what a hold would be about that stops this packet, as the neighbour sees it.
// Reads:  meta.mode; underlay header, its destination as on the wire between the two, UDP ports of a packet with UDP
//         behind it.
// Writes: meta.traffic.
// When:   before Hold and before an ARN.
control HeldTraffic(
        in ipv6_h outer_ipv6, in ipv6_addr_t dst, in bool has_ports, in udp_h udp,
        inout flow_control_meta_t meta) {
    action of_service() {
        meta.traffic.ip_version = 6;
        meta.traffic.protocol = outer_ipv6.next_header;
        meta.traffic.src = outer_ipv6.src;
        meta.traffic.dst = dst;
    }
    action of_label() {
        meta.traffic.label = outer_ipv6.flow_label;
    }
    action of_ports() {
        meta.traffic.src_port = udp.src_port;
        meta.traffic.dst_port = udp.dst_port;
    }
    // IEEE 802.1Q priority as the class selector of the DSCP (RFC 2474 section 4.2.2)
    action of_priority() {
        meta.traffic.priority = (bit<32>)outer_ipv6.dscp[5:3];
    }

    apply {
        meta.traffic.ip_version = 0;
        meta.traffic.label = 0;
        meta.traffic.protocol = 0;
        meta.traffic.src = 0;
        meta.traffic.dst = 0;
        meta.traffic.src_port = 0;
        meta.traffic.dst_port = 0;
        meta.traffic.priority = 0;
        if (meta.mode == FlowControl.PRIORITY) {
            of_priority();
        } else {
            of_service();
            if (has_ports) {
                of_ports();
            } else {
                of_label();
            }
        }
    }
}

#endif
