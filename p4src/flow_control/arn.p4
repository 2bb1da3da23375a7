#ifndef FCN_ARN_P4
#define FCN_ARN_P4

#include "../base/five_tuple.p4"
#include "../base/headers.p4"
#include "../base/sizes.p4"
#include "arn_headers.p4"
#include "flow_control_types.p4"

// Arn: turns the copy of a packet into an ARN about its traffic (SRF-5).
// Reads:  meta.mode, meta.arn_type, meta.traffic; what ArnUpstream found.
// Writes: Ethernet and underlay headers, UDP header, ARN headers. The SRH and the UDP checksum are the top-level
//         control's, as is the length.
// When:   on the egress copy of a packet whose upstream neighbour is to be told.
control Arn(
        inout ethernet_h ethernet, inout ipv6_h outer_ipv6, inout udp_h udp, inout arn_headers_t arn,
        inout five_tuple_headers_t five_tuple, in envelope_h envelope, in flow_control_meta_t meta) {
    action set_arn_profile(
            bit<16> udp_src_port, bit<16> udp_dst_port, bit<6> dscp, microseconds_t time) {
        udp.src_port = udp_src_port;
        udp.dst_port = udp_dst_port;
        outer_ipv6.dscp = dscp;
        arn.time.time = time;
    }

    @name(".arn_profile")
    table arn_profile {
        actions = {
            set_arn_profile;
        }
        default_action = set_arn_profile(0, 0, 0, 0);
    }

    action start() {
        arn.arn.setValid();
        arn.arn.type = meta.arn_type;
        arn.arn.version = 0;
        arn.arn.reserved = 0;
        arn.arn.metric = 0;
        arn.time.setValid();
        udp.setValid();
        udp.checksum = 0;
    }
    action address() {
        ethernet.src = envelope.src_mac;
        ethernet.dst = envelope.dst_mac;
        outer_ipv6.src = envelope.src;
        outer_ipv6.dst = envelope.dst;
        outer_ipv6.next_header = IpProtocol.UDP;
        outer_ipv6.hop_limit = ARN_HOP_LIMIT;
        outer_ipv6.flow_label = 0;
    }
    // A notification is never ECN-capable.
    action clear_ecn() {
        outer_ipv6.ecn = Ecn.NOT_ECT;
    }
    action name_priority() {
        arn.arn.para_type = ARN_PRIORITY_AND_TIME;
        arn.priority.setValid();
        arn.priority.priority = meta.traffic.priority;
        outer_ipv6.payload_len = ARN_PRIORITY_UDP_LENGTH;
        udp.length = ARN_PRIORITY_UDP_LENGTH;
    }
    action name_tuple() {
        arn.arn.para_type = ARN_FIVE_TUPLE_AND_TIME;
        five_tuple.head.setValid();
        five_tuple.head.ip_version = meta.traffic.ip_version;
        five_tuple.head.label = meta.traffic.label;
        five_tuple.head.protocol = meta.traffic.protocol;
        five_tuple.ports.setValid();
        five_tuple.ports.src_port = meta.traffic.src_port;
        five_tuple.ports.dst_port = meta.traffic.dst_port;
    }
    action name_ipv4() {
        five_tuple.ipv4.setValid();
        five_tuple.ipv4.src = meta.traffic.src[31:0];
        five_tuple.ipv4.dst = meta.traffic.dst[31:0];
        outer_ipv6.payload_len = ARN_IPV4_UDP_LENGTH;
        udp.length = ARN_IPV4_UDP_LENGTH;
    }
    action name_ipv6() {
        five_tuple.ipv6.setValid();
        five_tuple.ipv6.src = meta.traffic.src;
        five_tuple.ipv6.dst = meta.traffic.dst;
        outer_ipv6.payload_len = ARN_IPV6_UDP_LENGTH;
        udp.length = ARN_IPV6_UDP_LENGTH;
    }

    apply {
        start();
        address();
        clear_ecn();
        arn_profile.apply();
        if (meta.mode == FlowControl.PRIORITY) {
            name_priority();
        } else {
            name_tuple();
            if (meta.traffic.ip_version == 4) {
                name_ipv4();
            } else {
                name_ipv6();
            }
        }
    }
}

#endif
