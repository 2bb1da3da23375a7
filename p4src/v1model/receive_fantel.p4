#ifndef FCN_RECEIVE_FANTEL_P4
#define FCN_RECEIVE_FANTEL_P4

// Epoch and sequence number of what each link or node said last of a path
register<bit<64>, reporter_cell_t>(PATH_REPORTER_CELLS) reporter_order;

// What each said, how often: reporter_cell_t ++ PathReport but LOAD
typedef bit<14> reporter_count_cell_t;
@name(".reporter_reports")
counter<reporter_count_cell_t>(PATH_REPORTER_CELLS * 4, CounterType.packets_and_bytes) reporter_reports;

// ReceiveFantel: reads a FANTEL message (FAN-4, FAN-6, FAN-8). What is older than what was said last, or the same, says
// nothing.
// Reads:  underlay source; octets of the message as behind UDP, with its header; FANTEL headers; whether the source is
//         trusted, and lengths and checksum around the message right.
// Writes: reporter_order, reporter_reports; path_report, valid where it says something of a path; drop_reason.
// When:   the pass on which the parameters of a FANTEL message for this node are parsed.
control ReceiveFantel(
        in ipv6_addr_t src, in bit<16> octets, in fantel_headers_t fantel, in arn_headers_t arn, in bool is_trusted,
        in bool is_right, inout path_report_h path_report, inout DropReason drop_reason) {
    FantelLength() fantel_length;
    FantelArrival() fantel_arrival;

    apply {
        bool is_whole;
        reporter_cell_t reporter;
        notifications_received.count(NotificationKind.FANTEL);
        fantel_length.apply(fantel, arn, octets, is_whole);
        fantel_arrival.apply(src, fantel, is_trusted, is_whole && is_right, reporter, path_report, drop_reason);
        if (drop_reason == DropReason.NONE) {
            // RFC 1982: later by less than half of the circle; of the sequence, in the same epoch. 0 is what the register
            // has before the first message, so a message of number 0 in epoch 0 would always be news.
            bit<64> last;
            reporter_order.read(last, reporter);
            bit<32> epochs = fantel.origin.epoch - last[63:32];
            bit<32> messages = fantel.origin.sequence - last[31:0];
            bool is_later = epochs != 0 && epochs[31:31] == 0
                || epochs == 0 && messages != 0 && messages[31:31] == 0;
            bool is_first = last == 0 && fantel.origin.epoch ++ fantel.origin.sequence != 0;
            if (!is_first && !is_later) {
                drop_reason = DropReason.NOTIFICATION_STALE;
                path_report.setInvalid();
            } else {
                reporter_order.write(reporter, fantel.origin.epoch ++ fantel.origin.sequence);
                if (path_report.report != PathReport.LOAD) {
                    reporter_reports.count(reporter ++ ((bit<3>)path_report.report)[1:0]);
                }
            }
        }
    }
}

#endif
