#ifndef FCN_ARN_CHECKSUM_P4
#define FCN_ARN_CHECKSUM_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../arn_headers.p4"
#include "../flow_control_types.p4"

// ArnChecksum: the UDP checksum of an ARN over exactly its fields: what follows them in a copy is cut off later. The
// sum does not depend on the order of 16-bit words, and an absent parameter is zero; so an IPv4 address counts as the
// low bits of 128.
// Reads:  IPv6 addresses, UDP header, ARN headers, what they are about.
// Writes: checksum.
// When:   an ARN was built, or one for this node arrived.
control ArnChecksum(
        in ipv6_h ipv6, in udp_h udp, in arn_headers_t arn, in held_traffic_t traffic,
        out bit<16> checksum) {
    apply {
        bit<32> path = 0;
        bit<32> time = 0;
        if (arn.path.isValid()) {
            path = arn.path.path_id;
        }
        if (arn.time.isValid()) {
            time = arn.time.time;
        }
        hash(checksum, HashAlgorithm.csum16, 16w0,
             { ipv6.src, ipv6.dst, 16w0 ++ udp.length ++ 24w0 ++ 8w17,
                   udp.src_port ++ udp.dst_port ++ udp.length,
                   (bit<8>)arn.arn.type ++ arn.arn.version ++ arn.arn.reserved ++ arn.arn.metric
                       ++ arn.arn.para_type,
                   traffic.ip_version ++ traffic.label ++ traffic.protocol, traffic.src, traffic.dst,
                   traffic.src_port ++ traffic.dst_port, path, traffic.priority, time },
             32w0x10000);
        if (checksum == 0) {
            checksum = 0xffff;
        }
    }
}

#endif
