#ifndef FCN_ARN_ARRIVAL_P4
#define FCN_ARN_ARRIVAL_P4

// ArnArrival: is this ARN a neighbour's, and what does it ask for (SRF-5, SRF-7)?
// Reads:  the port it came from; source and hop limit of its underlay header, ARN headers, meta.mode; whether its
//         lengths, parameters and checksum are sound.
// Writes: meta.request, meta.time; drop_reason.
// When:   the second pass of an ARN for this node from a core port.
control ArnArrival(
        in port_t ingress_port, in ipv6_h ipv6, in arn_headers_t arn, in bool sound,
        inout flow_control_meta_t meta, inout DropReason drop_reason) {
    bool is_neighbor;

    action neighbor() {
        is_neighbor = true;
    }
    action stranger() {
        is_neighbor = false;
    }

    @name(".arn_neighbor")
    table arn_neighbor {
        key = {
            ingress_port: exact @name("ingress_port");
            ipv6.src: exact @name("source");
        }
        actions = {
            @tableonly neighbor;
            @defaultonly stranger;
        }
        const default_action = stranger;
        size = PORT_TABLE_SIZE;
    }

    action refuse_arn(DropReason reason) {
        drop_reason = reason;
    }
    action hold() {
        meta.request = HoldRequest.BEGIN;
        meta.time = arn.time.time;
    }
    action release() {
        meta.request = HoldRequest.END;
    }

    // Besides what it names, an ARN may have a path ID, and one that ends a hold a time: neither says anything here.
    @name(".arn_arrival")
    table arn_arrival {
        key = {
            is_neighbor: ternary @name("is_neighbor");
            ipv6.hop_limit: ternary @name("hop_limit");
            sound: ternary @name("sound");
            meta.mode: ternary @name("mode");
            arn.arn.type: ternary @name("type");
            arn.arn.para_type: ternary @name("para_type");
        }
        actions = {
            refuse_arn;
            hold;
            release;
        }
        const default_action = refuse_arn(DropReason.NOTIFICATION_UNTRUSTED);
        const entries = {
            (false, _, _, _, _, _): refuse_arn(DropReason.NOTIFICATION_UNTRUSTED);
            (_, ARN_HOP_LIMIT, false, _, _, _): refuse_arn(DropReason.NOTIFICATION_MALFORMED);
            (_, ARN_HOP_LIMIT, _, FlowControl.SERVICE, ArnType.DETECTED, 0x09 &&& 0xfd): hold();
            (_, ARN_HOP_LIMIT, _, FlowControl.FLOW, ArnType.DETECTED, 0x09 &&& 0xfd): hold();
            (_, ARN_HOP_LIMIT, _, FlowControl.PRIORITY, ArnType.DETECTED, 0x0c &&& 0xfd): hold();
            (_, ARN_HOP_LIMIT, _, FlowControl.SERVICE, ArnType.ELIMINATED, 0x01 &&& 0xf5): release();
            (_, ARN_HOP_LIMIT, _, FlowControl.FLOW, ArnType.ELIMINATED, 0x01 &&& 0xf5): release();
            (_, ARN_HOP_LIMIT, _, FlowControl.PRIORITY, ArnType.ELIMINATED, 0x04 &&& 0xf5): release();
            (_, ARN_HOP_LIMIT, _, _, _, _): refuse_arn(DropReason.ARN_UNSUPPORTED);
        }
    }

    apply {
        arn_neighbor.apply();
        arn_arrival.apply();
    }
}

// HoldRefusal: why Hold did not do what was asked, as a drop reason.
// Reads:  verdict of Hold.
// Writes: drop_reason.
// When:   behind Hold, unless the packet waits.
control HoldRefusal(in HoldVerdict verdict, inout DropReason drop_reason) {
    apply {
        if (verdict == HoldVerdict.NO_ROOM) {
            drop_reason = DropReason.HOLD_NO_ROOM;
        } else if (verdict == HoldVerdict.LIMIT) {
            drop_reason = DropReason.HOLD_LIMIT;
        } else if (verdict == HoldVerdict.NO_CELL) {
            drop_reason = DropReason.HOLD_NO_CELL;
        }
    }
}

// ArnTraffic: what an ARN is about.
// Reads:  ARN headers.
// Writes: meta.traffic, which is zero so far; length: octets behind the UDP header that its parameters take.
// When:   the second pass of an ARN.
control ArnTraffic(in arn_headers_t arn, inout flow_control_meta_t meta, out bit<16> length) {
    apply {
        length = 4;
        if (arn.five_tuple.isValid()) {
            meta.traffic.ip_version = arn.five_tuple.ip_version;
            meta.traffic.label = arn.five_tuple.label;
            meta.traffic.protocol = arn.five_tuple.protocol;
            length = length + 8;
        }
        if (arn.ipv4.isValid()) {
            meta.traffic.src = 96w0 ++ arn.ipv4.src;
            meta.traffic.dst = 96w0 ++ arn.ipv4.dst;
            length = length + 8;
        }
        if (arn.ipv6.isValid()) {
            meta.traffic.src = arn.ipv6.src;
            meta.traffic.dst = arn.ipv6.dst;
            length = length + 32;
        }
        if (arn.ports.isValid()) {
            meta.traffic.src_port = arn.ports.src_port;
            meta.traffic.dst_port = arn.ports.dst_port;
        }
        if (arn.path.isValid()) {
            length = length + 4;
        }
        if (arn.priority.isValid()) {
            meta.traffic.priority = arn.priority.priority;
            length = length + 4;
        }
        if (arn.time.isValid()) {
            length = length + 4;
        }
    }
}

#endif
