#ifndef FCN_RECEIVE_ARN_P4
#define FCN_RECEIVE_ARN_P4

#include "../../base/v1model/externs.p4"
#include "../../base/five_tuple.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"
#include "../../base/v1model/counters.p4"
#include "../arn_arrival.p4"
#include "../arn_headers.p4"
#include "../arn_traffic.p4"
#include "../flow_control_types.p4"
#include "arn_checksum.p4"

// ReceiveArn: reads an ARN for this node; ArnArrival decides what it asks for (SRF-5).
// Reads:  the port it came from, underlay and UDP header, ARN headers; whether the parser reached its end.
// Writes: meta.traffic, meta.request, meta.time; drop_reason.
// When:   the pass on which an ARN's parameters are parsed.
control ReceiveArn(
        in port_t ingress_port, in ipv6_h ipv6, in udp_h udp, in arn_headers_t arn,
        in five_tuple_headers_t five_tuple, in bool parsed, inout flow_control_meta_t meta, inout DropReason drop_reason) {
    ArnTraffic() arn_traffic;
    ArnChecksum() arn_checksum;
    ArnArrival() arn_arrival;

    apply {
        bit<16> length;
        bit<16> checksum;
        notifications_received.count(NotificationKind.ARN);
        meta.traffic = NO_TRAFFIC;
        arn_traffic.apply(arn, five_tuple, meta, length);
        arn_checksum.apply(ipv6, udp, arn, meta.traffic, checksum);
        bool sound = parsed && arn.arn.version == 0 && checksum == udp.checksum
            && udp.length == UDP_LENGTH + length && ipv6.payload_len == udp.length;
        // Behind the checksum, which is over what the neighbour calls it
        meta.traffic.protocol = service_protocol(meta.traffic.protocol);
        arn_arrival.apply(ingress_port, ipv6, arn, sound, meta, drop_reason);
    }
}

#endif
