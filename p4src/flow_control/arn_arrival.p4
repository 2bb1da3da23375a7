#ifndef FCN_ARN_ARRIVAL_P4
#define FCN_ARN_ARRIVAL_P4

#include "../base/headers.p4"
#include "../base/sizes.p4"
#include "arn_headers.p4"
#include "flow_control_types.p4"

// ArnArrival: is this ARN a neighbour's, and what does it ask for (SRF-5, SRF-7)?
// Reads:  the port it came from; source and hop limit of its underlay header, ARN headers, meta.mode, meta.traffic;
//         whether its lengths, parameters and checksum are sound.
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
    // What it names is something this node can hold: a service over IPv6, a flow of UDP, one of eight priorities.
    @name(".arn_arrival")
    table arn_arrival {
        key = {
            is_neighbor: ternary @name("is_neighbor");
            ipv6.hop_limit: ternary @name("hop_limit");
            sound: ternary @name("sound");
            meta.mode: ternary @name("mode");
            arn.arn.type: ternary @name("type");
            arn.arn.para_type: ternary @name("para_type");
            meta.traffic.ip_version: ternary @name("ip_version");
            meta.traffic.protocol: ternary @name("protocol");
            meta.traffic.priority: ternary @name("priority");
        }
        actions = {
            refuse_arn;
            hold;
            release;
        }
        const default_action = refuse_arn(DropReason.NOTIFICATION_UNTRUSTED);
        const entries = {
            (false, _, _, _, _, _, _, _, _): refuse_arn(DropReason.NOTIFICATION_UNTRUSTED);
            (_, ARN_HOP_LIMIT, false, _, _, _, _, _, _): refuse_arn(DropReason.NOTIFICATION_MALFORMED);
            (_, ARN_HOP_LIMIT, _, FlowControl.SERVICE, ArnType.DETECTED,
                ARN_FIVE_TUPLE_AND_TIME &&& ~ARN_PATH, 6, _, _): hold();
            (_, ARN_HOP_LIMIT, _, FlowControl.FLOW, ArnType.DETECTED,
                ARN_FIVE_TUPLE_AND_TIME &&& ~ARN_PATH, 4 &&& 0xd, IpProtocol.UDP, _): hold();
            (_, ARN_HOP_LIMIT, _, FlowControl.PRIORITY, ArnType.DETECTED,
                ARN_PRIORITY_AND_TIME &&& ~ARN_PATH, _, _, 0 &&& ~MAX_PRIORITY): hold();
            (_, ARN_HOP_LIMIT, _, FlowControl.SERVICE, ArnType.ELIMINATED,
                ARN_FIVE_TUPLE &&& ~(ARN_PATH | ARN_TIME), 6, _, _): release();
            (_, ARN_HOP_LIMIT, _, FlowControl.FLOW, ArnType.ELIMINATED,
                ARN_FIVE_TUPLE &&& ~(ARN_PATH | ARN_TIME), 4 &&& 0xd, IpProtocol.UDP, _): release();
            (_, ARN_HOP_LIMIT, _, FlowControl.PRIORITY, ArnType.ELIMINATED,
                ARN_PRIORITY &&& ~(ARN_PATH | ARN_TIME), _, _, 0 &&& ~MAX_PRIORITY): release();
            (_, ARN_HOP_LIMIT, _, _, _, _, _, _, _): refuse_arn(DropReason.ARN_UNSUPPORTED);
        }
    }

    apply {
        arn_neighbor.apply();
        arn_arrival.apply();
    }
}

#endif
