#ifndef FCN_SEND_ARN_P4
#define FCN_SEND_ARN_P4

#include "../../base/v1model/externs.p4"
#include "../../base/five_tuple.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"
#include "../arn.p4"
#include "../arn_headers.p4"
#include "../flow_control_types.p4"
#include "arn_checksum.p4"

// SendArn: makes the copy of a packet an ARN on its second pass (SRF-5).
// Reads:  level of the queue; longest: a limit of the time, 0 for none; meta.mode, meta.arn_type, meta.traffic; what ArnUpstream found.
// Writes: Ethernet, underlay, UDP and ARN headers; the SRH ends. What the deparser emits behind the ARN is cut off.
// When:   on the egress copy of a packet whose upstream neighbour is to be told.
control SendArn(
        inout ethernet_h ethernet, inout ipv6_h outer_ipv6, inout srv6_headers_t srv6, inout udp_h udp,
        inout arn_headers_t arn_headers, inout five_tuple_headers_t five_tuple, in envelope_h envelope,
        in congestion_level_t level, in microseconds_t longest, in flow_control_meta_t meta) {
    Arn() arn;
    ArnChecksum() arn_checksum;

    apply {
        REMOVE_SRH(srv6)
        arn.apply(ethernet, outer_ipv6, udp, arn_headers, five_tuple, envelope, meta);
        arn_headers.arn.metric = (bit<8>)level;
        if (longest != 0 && arn_headers.time.time > longest) {
            arn_headers.time.time = longest;
        }
        bit<16> checksum;
        arn_checksum.apply(outer_ipv6, udp, arn_headers, meta.traffic, checksum);
        udp.checksum = checksum;
        truncate((bit<32>)(outer_ipv6.payload_len + IPV6_LENGTH + ETHERNET_LENGTH));
    }
}

#endif
