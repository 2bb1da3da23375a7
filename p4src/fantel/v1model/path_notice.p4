#ifndef FCN_PATH_NOTICE_P4
#define FCN_PATH_NOTICE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/v1model/counters.p4"
#include "../links/bfd_headers.p4"
#include "../links/link_types.p4"
#include "../paths/core_path.p4"
#include "path_refresh.p4"

// PathNotice: the ingress PE of a packet hears that the path it is on has failed, or is congested (FAN-4, FAN-6).
// Reads:  underlay header, SRH; notice: the report, on which of this node's ports; time now in microseconds.
// Writes: notice, is_wanted where it is due; last_path_reports.
// When:   a packet of the underlay that is no notification met a dead next hop, or is in a congested queue.
control PathNotice(in ipv6_h ipv6, in srh_h srh, in bit<48> now, inout notice_h notice) {
    CorePath() core_path;
    PathRefresh() path_refresh;

    apply {
        bool is_known;
        core_path_t path_cell;
        path_id_t path_id;
        microseconds_t repeat;
        bit<16> tag = 0;
        ipv6_addr_t dst = ipv6.dst;
        if (srh.isValid() && srh.tag != 0) {
            tag = srh.tag;
            dst = 0;
        }
        notice.is_wanted = 0;
        core_path.apply(ipv6.src, tag, dst, notice.port, is_known, path_cell, path_id, repeat);
        if (is_known) {
            bool is_due;
            path_refresh.apply(path_cell, notice.report, repeat, repeat, now[31:0], is_due);
            if (!is_due) {
                flow_interval_suppressed.count(NotificationKind.FANTEL);
            } else {
                notice.is_wanted = 1;
                notice.path_id = path_id;
                notice.ingress_pe = ipv6.src;
            }
        }
    }
}

#endif
