#ifndef FCN_HELD_TRAFFIC_P4
#define FCN_HELD_TRAFFIC_P4

// The protocol in the name of a service: 0, any (RFC 7296 section 3.13.1), of a tunnel over SRv6. Its next header says
// whether there is an SRH and which version of IP a customer's packet has, and one hold is to be about all of them.
bit<8> service_protocol(in bit<8> next_header) {
    bit<8> protocol = next_header;
    if (next_header == IpProtocol.IPV4 || next_header == IpProtocol.IPV6 || next_header == IpProtocol.ROUTING) {
        protocol = 0;
    }
    return protocol;
}

// HeldTraffic: what a hold would be about that stops this packet, as the neighbour sees it. A service has no flow
// label: that of a flow changes when the flow is learned, and its packets would overtake those that wait.
// Reads:  meta.mode; underlay header, its destination as on the wire between the two, UDP ports of a packet with UDP
//         behind it.
// Writes: meta.traffic, meta.is_named.
// When:   before Hold and before an ARN, in modes service and priority.
control HeldTraffic(
        in ipv6_h outer_ipv6, in ipv6_addr_t dst, in bool has_ports, in udp_h udp,
        inout flow_control_meta_t meta) {
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
            if (has_ports) {
                of_ports();
            }
        }
    }
}

#endif
