#ifndef FCN_RECEIVE_FANTEL_P4
#define FCN_RECEIVE_FANTEL_P4

#include "../../base/v1model/pe.p4"
#include "../links/link_types.p4"
#include "../messages/fantel_arrival.p4"
#include "../messages/fantel_headers.p4"
#include "../messages/fantel_length.p4"
#include "../paths/path_types.p4"

// Epoch and sequence number of what each link or node reported last of a path, and when: microseconds; 0: nothing
register<bit<96>, reporter_cell_t>(PATH_REPORTER_CELLS) reporter_order;

// In microseconds: later no message is on its way any more that was overtaken, so the order begins anew. Thus nobody is
// unheard for longer than this because somebody has spoken in his place.
const bit<32> ORDER_LASTS = 4000000;
// Within that time epochs, which are seconds, are no farther apart than a node runs without a start, and messages no
// more than a node can send.
const bit<32> MOST_EPOCHS = 0x4000000;
const bit<32> MOST_MESSAGES = 0x1000000;

// What each reported, how often: reporter_cell_t ++ PathReport but LOAD
typedef bit<14> reporter_count_cell_t;
@name(".reporter_reports")
counter<reporter_count_cell_t>(PATH_REPORTER_CELLS * 4, CounterType.packets_and_bytes) reporter_reports;

// ReceiveFantel: reads a FANTEL message (FAN-4, FAN-6, FAN-8). What is older than the last report, or the same, says
// nothing, nor does what is too far ahead.
// Reads:  port and underlay source; time now in microseconds; octets of the message as behind UDP, with its header; FANTEL
//         headers; whether the source is trusted, and lengths and checksum around the message right.
// Writes: reporter_order, reporter_reports; path_report, valid where it says something of a path; drop_reason.
// When:   the pass on which the parameters of a FANTEL message for this node are parsed.
control ReceiveFantel(
        in port_t port, in ipv6_addr_t src, in bit<32> now, in bit<16> octets, in fantel_headers_t fantel,
        in five_tuple_headers_t five_tuple, in bool is_trusted, in bool is_right, inout path_report_h path_report,
        inout DropReason drop_reason) {
    FantelLength() fantel_length;
    FantelArrival() fantel_arrival;

    apply {
        bool is_whole;
        reporter_cell_t reporter;
        notifications_received.count(NotificationKind.FANTEL);
        fantel_length.apply(fantel, five_tuple, octets, is_whole);
        fantel_arrival.apply(port, src, fantel, is_trusted, is_whole && is_right, reporter, path_report, drop_reason);
        if (drop_reason == DropReason.NONE) {
            // RFC 1982: later by less than half of the circle; of the sequence, in the same epoch. 0 is what the register
            // has before the first message, so a message of number 0 in epoch 0 would always be new.
            bit<96> last;
            reporter_order.read(last, reporter);
            bit<32> epochs = fantel.origin.epoch - last[95:64];
            bit<32> messages = fantel.origin.sequence - last[63:32];
            bit<32> age = now - last[31:0];
            bool is_first = last == 0 || age >= ORDER_LASTS && age < A_LITTLE_NEWER;
            bool is_later = epochs != 0 && epochs[31:31] == 0
                || epochs == 0 && messages != 0 && messages[31:31] == 0;
            if (fantel.origin.epoch ++ fantel.origin.sequence == 0 || !is_first && !is_later) {
                drop_reason = DropReason.NOTIFICATION_STALE;
            } else if (!is_first && (epochs > MOST_EPOCHS || epochs == 0 && messages > MOST_MESSAGES)) {
                drop_reason = DropReason.NOTIFICATION_JUMP;
            }
            if (drop_reason != DropReason.NONE) {
                path_report.setInvalid();
            } else {
                reporter_order.write(reporter, fantel.origin.epoch ++ fantel.origin.sequence ++ now);
                if (path_report.report != PathReport.LOAD) {
                    reporter_reports.count(reporter ++ ((bit<3>)path_report.report)[1:0]);
                }
            }
        }
    }
}

#endif
