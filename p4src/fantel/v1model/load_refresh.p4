#ifndef FCN_LOAD_REFRESH_P4
#define FCN_LOAD_REFRESH_P4

#include "../../base/v1model/externs.p4"
#include "../links/bfd_headers.p4"
#include "../links/link_types.p4"
#include "link_load.p4"
#include "node_load.p4"

// What was reported last of a path's load, and when: microseconds ++ level of the queue ++ utilization. 0: nothing yet
register<bit<45>, core_path_t>(CORE_PATH_CELLS) last_load_reports;

// LoadRefresh: is a report on the load of a path due (FAN-7)? A change that is large enough at once, the same in the refresh
// interval.
// Reads:  notice: the path, which change is large enough, the refresh interval; link_loads; node_loads; time now, all in
//         microseconds and permille.
// Writes: notice.report; where it is due is_wanted, level, depth, utilization, load; last_load_reports.
// When:   the clock comes to the load of a path.
control LoadRefresh(in bit<32> now, inout notice_h notice) {
    apply {
        bit<45> last;
        bit<32> load;
        last_load_reports.read(last, notice.path_cell);
        link_loads.read(load, notice.port);
        bit<16> utilization = (bit<16>)load[9:0];
        bit<16> before = (bit<16>)last[9:0];
        bit<16> change = utilization - before;
        if (utilization < before) {
            change = before - utilization;
        }
        notice.report = PathReport.LOAD;
        if (last == 0 || change >= notice.change || load[31:29] != last[12:10] || now - last[44:13] >= notice.time) {
            permille_t node_load;
            node_loads.read(node_load, 0);
            notice.is_wanted = 1;
            notice.level = (bit<8>)load[31:29];
            notice.depth = (bit<32>)load[28:10];
            notice.utilization = utilization;
            notice.load = (bit<16>)node_load;
            last_load_reports.write(notice.path_cell, (now | 1) ++ load[31:29] ++ load[9:0]);
        }
    }
}

#endif
