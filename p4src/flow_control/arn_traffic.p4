#ifndef FCN_ARN_TRAFFIC_P4
#define FCN_ARN_TRAFFIC_P4

#include "../base/five_tuple.p4"
#include "../base/sizes.p4"
#include "arn_headers.p4"
#include "flow_control_types.p4"

// ArnTraffic: what an ARN is about.
// Reads:  ARN headers.
// Writes: meta.traffic, which is zero so far; length: octets behind the UDP header that its parameters take.
// When:   the second pass of an ARN.
control ArnTraffic(
        in arn_headers_t arn, in five_tuple_headers_t five_tuple, inout flow_control_meta_t meta, out bit<16> length) {
    apply {
        length = ARN_LENGTH;
        if (five_tuple.head.isValid()) {
            meta.traffic.ip_version = five_tuple.head.ip_version;
            meta.traffic.label = five_tuple.head.label;
            meta.traffic.protocol = five_tuple.head.protocol;
            length = length + ARN_TUPLE_LENGTH;
        }
        if (five_tuple.ipv4.isValid()) {
            meta.traffic.src = 96w0 ++ five_tuple.ipv4.src;
            meta.traffic.dst = 96w0 ++ five_tuple.ipv4.dst;
            length = length + ARN_IPV4_LENGTH;
        }
        if (five_tuple.ipv6.isValid()) {
            meta.traffic.src = five_tuple.ipv6.src;
            meta.traffic.dst = five_tuple.ipv6.dst;
            length = length + ARN_IPV6_LENGTH;
        }
        if (five_tuple.ports.isValid()) {
            meta.traffic.src_port = five_tuple.ports.src_port;
            meta.traffic.dst_port = five_tuple.ports.dst_port;
        }
        if (arn.path.isValid()) {
            length = length + ARN_PARAMETER_LENGTH;
        }
        if (arn.priority.isValid()) {
            meta.traffic.priority = arn.priority.priority;
            length = length + ARN_PARAMETER_LENGTH;
        }
        if (arn.time.isValid()) {
            length = length + ARN_PARAMETER_LENGTH;
        }
    }
}

#endif
