#ifndef FCN_RECEIVE_ARN_P4
#define FCN_RECEIVE_ARN_P4

#include "../../base/v1model/externs.p4"
#include "../../base/five_tuple.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"
#include "../../base/v1model/counters.p4"
#include "../arn_arrival.p4"
#include "../arn_headers.p4"
#include "../arn_traffic.p4"
#include "../flow_control_types.p4"
#include "arn_checksum.p4"

// ReceiveArn: reads an ARN for this node; ArnArrival decides what it asks for (SRF-5).
// Reads:  base.ingress_port, notification_kind; underlay and UDP header, ARN headers; the parser's error.
// Writes: meta.traffic, meta.request, meta.time, meta.hold_port; base.is_done, punt_reason, drop_reason.
//         Ends the pass of an ARN that is parsed again.
// When:   a packet for this node itself.
control ReceiveArn(
        in ipv6_h ipv6, in udp_h udp, in arn_headers_t arn, in five_tuple_headers_t five_tuple, in error parser_error,
        inout base_meta_t base, inout flow_control_meta_t meta) {
    ArnTraffic() arn_traffic;
    ArnChecksum() arn_checksum;
    ArnArrival() arn_arrival;

    apply {
        if (base.notification_kind == NotificationKind.ARN && meta.mode != FlowControl.OFF) {
            PARSE_AGAIN(base, ParseMore.ARN)
            base.is_done = true;
            base.punt_reason = PuntReason.NONE;
            meta.hold_port = base.ingress_port;
            bit<16> length;
            bit<16> checksum;
            notifications_received.count(NotificationKind.ARN);
            meta.traffic = NO_TRAFFIC;
            arn_traffic.apply(arn, five_tuple, meta, length);
            arn_checksum.apply(ipv6, udp, arn, meta.traffic, checksum);
            bool sound = parser_error == error.NoError && arn.arn.version == 0 && checksum == udp.checksum
                && udp.length == UDP_LENGTH + length && ipv6.payload_len == udp.length;
            // Behind the checksum, which is over what the neighbour calls it
            meta.traffic.protocol = service_protocol(meta.traffic.protocol);
            arn_arrival.apply(base.ingress_port, ipv6, arn, sound, meta, base.drop_reason);
        }
    }
}

#endif
