#ifndef FCN_PATH_NEWS_P4
#define FCN_PATH_NEWS_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"
#include "../links/link_types.p4"

// What was said last of failure, and of congestion, of each path that leaves this node by a port: 2 for bad, 3 for good, 0
// for nothing ++ how often, up to PATH_NEWS_TIMES ++ when, in microseconds
register<bit<36>, core_path_news_t>(CORE_PATH_NEWS_CELLS) path_said;

// Messages can be lost: what is new is said so often before it is only refreshed.
const bit<2> PATH_NEWS_TIMES = 3;

// PathNews: is it time to say how a path is (FAN-4)?
// Reads:  the path's cell; what is to be said; how often news are said again, and how often what is no news any more;
//         time now, all in microseconds.
// Writes: is_due; path_said.
// When:   the clock comes to the path, or a packet on it meets a dead next hop or a congested queue.
control PathNews(
        in core_path_t path_cell, in PathReport report, in microseconds_t repeat, in microseconds_t refresh,
        in bit<32> now, out bool is_due) {
    apply {
        bit<36> said;
        // PathReport: bit 1 is congestion, bit 0 good.
        bit<3> number = (bit<3>)report;
        core_path_news_t cell = path_cell ++ number[1:1];
        bit<2> what = 1w1 ++ number[0:0];
        path_said.read(said, cell);
        bit<2> times = said[33:32];
        microseconds_t wait = repeat;
        if (times == PATH_NEWS_TIMES) {
            wait = refresh;
        }
        if (said[35:34] != what) {
            is_due = true;
            times = 1;
        } else {
            // What was said by a packet may be newer than the clock packet's now.
            bit<32> since = now - said[31:0];
            is_due = since >= wait && since < A_LITTLE_NEWER;
            if (times != PATH_NEWS_TIMES) {
                times = times + 1;
            }
        }
        if (is_due) {
            path_said.write(cell, what ++ times ++ now);
        }
    }
}

#endif
