#ifndef FCN_HELD_TRAFFIC_P4
#define FCN_HELD_TRAFFIC_P4

#include "../base/five_tuple.p4"
#include "../base/headers.p4"
#include "flow_control_types.p4"

// HeldTraffic: what a hold would be about that stops this packet, as the neighbour sees it. A service has no flow
// label: that of a flow changes when the flow is learned, and its packets would overtake those that wait.
// Reads:  meta.mode; underlay header, its destination as on the wire between the two, UDP header behind it.
// Writes: meta.traffic, meta.is_named.
// When:   before Hold and before an ARN, in modes service and priority.
control HeldTraffic(
        in ipv6_h outer_ipv6, in ipv6_addr_t dst, in udp_h udp, inout flow_control_meta_t meta) {
    action of_service(in bit<8> protocol) {
        meta.traffic.ip_version = 6;
        meta.traffic.protocol = protocol;
        meta.traffic.src = outer_ipv6.src;
        meta.traffic.dst = dst;
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
        meta.traffic = NO_TRAFFIC;
        meta.is_named = true;
        if (meta.mode == FlowControl.PRIORITY) {
            of_priority();
        } else {
            of_service(service_protocol(outer_ipv6.next_header));
            if (udp.isValid()) {
                of_ports();
            }
        }
    }
}

#endif
