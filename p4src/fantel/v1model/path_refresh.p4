#ifndef FCN_PATH_REFRESH_P4
#define FCN_PATH_REFRESH_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"
#include "../links/link_types.p4"

// What was reported last of failure, and of congestion, of each path that leaves this node by a port: 2 for bad, 3 for good,
// 0 for nothing ++ how often, up to PATH_REPEATS ++ when, in microseconds
register<bit<36>, core_path_report_t>(CORE_PATH_REPORT_CELLS) last_path_reports;

// Messages can be lost: a change is reported so often before it is only refreshed.
const bit<2> PATH_REPEATS = 3;

// PathRefresh: is a report on a path due (FAN-4)? A change at once, and again in the repeat interval; later the same in the
// refresh interval.
// Reads:  the path's cell; the report; both intervals; time now, all in microseconds.
// Writes: is_due; last_path_reports.
// When:   the clock comes to the path, or a packet on it meets a dead next hop or a congested queue.
control PathRefresh(
        in core_path_t path_cell, in PathReport report, in microseconds_t repeat, in microseconds_t refresh,
        in bit<32> now, out bool is_due) {
    apply {
        bit<36> last;
        // PathReport: bit 1 is congestion, bit 0 good.
        bit<3> number = (bit<3>)report;
        core_path_report_t cell = path_cell ++ number[1:1];
        bit<2> what = 1w1 ++ number[0:0];
        last_path_reports.read(last, cell);
        bit<2> times = last[33:32];
        microseconds_t wait = repeat;
        if (times == PATH_REPEATS) {
            wait = refresh;
        }
        if (last[35:34] != what) {
            is_due = true;
            times = 1;
        } else {
            // What a packet led to may be newer than the clock packet's now.
            bit<32> since = now - last[31:0];
            is_due = since >= wait && since < A_LITTLE_NEWER;
            if (times != PATH_REPEATS) {
                times = times + 1;
            }
        }
        if (is_due) {
            last_path_reports.write(cell, what ++ times ++ now);
        }
    }
}

#endif
