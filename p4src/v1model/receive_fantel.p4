#ifndef FCN_RECEIVE_FANTEL_P4
#define FCN_RECEIVE_FANTEL_P4

// Epoch and sequence number of what each link or node said last of a path
register<bit<64>, reporter_cell_t>(PATH_REPORTER_CELLS) reporter_order;
// By path, who says that it has failed, and who that it is congested
register<reporter_set_t, path_cell_t>(PATH_CELLS) path_failures;
register<reporter_set_t, path_cell_t>(PATH_CELLS) path_congestion;

// ReceiveFantel: takes a FANTEL message in (FAN-4, FAN-6, FAN-8). A path that two speak of has failed until both say
// that it is well again. What is older than what was said last, or the same, says nothing.
// Reads:  underlay and UDP header, FANTEL headers, whether the source is trusted and the checksum right, time now in
//         microseconds.
// Writes: reporter_order, path_failures, path_congestion; what PathState writes; drop_reason.
// When:   the pass on which the parameters of a FANTEL message for this node are parsed.
control ReceiveFantel(
        in ipv6_h ipv6, in udp_h udp, in fantel_headers_t fantel, in arn_headers_t arn, in bool is_trusted,
        in bool is_right, in bit<48> now, inout DropReason drop_reason) {
    FantelLength() fantel_length;
    FantelArrival() fantel_arrival;
    PathState() path_state;

    apply {
        bool is_whole;
        path_cell_t path;
        reporter_cell_t reporter;
        reporter_set_t reporter_bit;
        PathReport report;
        notifications_received.count(NotificationKind.FANTEL);
        fantel_length.apply(fantel, arn, udp.length, is_whole);
        bool is_sound = is_whole && is_right && ipv6.payload_len == udp.length;
        fantel_arrival.apply(
            ipv6.src, fantel, is_trusted, is_sound, path, reporter, reporter_bit, report, drop_reason);
        if (drop_reason == DropReason.NONE) {
            // RFC 1982: later by less than half of the circle; of the sequence, in the same epoch
            bit<64> last;
            reporter_order.read(last, reporter);
            bit<32> epochs = fantel.origin.epoch - last[63:32];
            bit<32> messages = fantel.origin.sequence - last[31:0];
            bool is_later = epochs != 0 && epochs[31:31] == 0
                || epochs == 0 && messages != 0 && messages[31:31] == 0;
            if (last != 0 && !is_later) {
                drop_reason = DropReason.NOTIFICATION_STALE;
            } else {
                reporter_order.write(reporter, fantel.origin.epoch ++ fantel.origin.sequence);
                reporter_set_t say = 0;
                if (report == PathReport.FAILED || report == PathReport.WELL) {
                    path_failures.read(say, path);
                    if (report == PathReport.FAILED) {
                        say = say | reporter_bit;
                    } else {
                        say = say & ~reporter_bit;
                    }
                    path_failures.write(path, say);
                } else {
                    path_congestion.read(say, path);
                    if (report == PathReport.CONGESTED) {
                        say = say | reporter_bit;
                    } else {
                        say = say & ~reporter_bit;
                    }
                    path_congestion.write(path, say);
                }
                if (say == 0 || report == PathReport.FAILED || report == PathReport.CONGESTED) {
                    PathChange change;
                    path_state.apply(fantel.path.value, report, now, change);
                }
            }
        }
    }
}

#endif
