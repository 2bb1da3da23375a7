#ifndef FCN_ARN_TRAFFIC_P4
#define FCN_ARN_TRAFFIC_P4

// ArnTraffic: what an ARN is about.
// Reads:  ARN headers.
// Writes: meta.traffic, which is zero so far; length: octets behind the UDP header that its parameters take.
// When:   the second pass of an ARN.
control ArnTraffic(in arn_headers_t arn, inout flow_control_meta_t meta, out bit<16> length) {
    apply {
        length = ARN_LENGTH;
        if (arn.five_tuple.isValid()) {
            meta.traffic.ip_version = arn.five_tuple.ip_version;
            meta.traffic.label = arn.five_tuple.label;
            meta.traffic.protocol = arn.five_tuple.protocol;
            length = length + ARN_TUPLE_LENGTH;
        }
        if (arn.ipv4.isValid()) {
            meta.traffic.src = 96w0 ++ arn.ipv4.src;
            meta.traffic.dst = 96w0 ++ arn.ipv4.dst;
            length = length + ARN_IPV4_LENGTH;
        }
        if (arn.ipv6.isValid()) {
            meta.traffic.src = arn.ipv6.src;
            meta.traffic.dst = arn.ipv6.dst;
            length = length + ARN_IPV6_LENGTH;
        }
        if (arn.ports.isValid()) {
            meta.traffic.src_port = arn.ports.src_port;
            meta.traffic.dst_port = arn.ports.dst_port;
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
