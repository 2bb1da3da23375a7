#ifndef FCN_FAILURE_NOTICE_P4
#define FCN_FAILURE_NOTICE_P4

// FailureNotice: the ingress PE of a packet that met a dead next hop hears that its path has failed (FAN-4).
// Reads:  underlay header, SRH, the destination the packet came with, the dead port; time now in microseconds.
// Writes: order, is_wanted where it is time to say so; path_said.
// When:   a packet of the underlay that is no notification met a dead next hop.
control FailureNotice(
        in ipv6_addr_t src, in srh_h srh, in ipv6_addr_t arrived_dst, in port_t dead_port, in bit<48> now,
        inout order_h order) {
    CorePath() core_path;
    PathNews() path_news;

    apply {
        bool is_known;
        core_path_t path_cell;
        path_id_t path_id;
        microseconds_t repeat;
        bit<16> tag = 0;
        ipv6_addr_t dst = arrived_dst;
        if (srh.isValid() && srh.tag != 0) {
            tag = srh.tag;
            dst = 0;
        }
        core_path.apply(src, tag, dst, dead_port, is_known, path_cell, path_id, repeat);
        if (is_known) {
            bool is_due;
            path_news.apply(path_cell, PathReport.FAILED, repeat, repeat, now[31:0], is_due);
            if (!is_due) {
                flow_interval_suppressed.count(NotificationKind.FANTEL);
            } else {
                notifications_triggered.count(NotificationKind.FANTEL);
                order.setValid();
                order.is_wanted = 1;
                order.report = PathReport.FAILED;
                order.path_id = path_id;
                order.link = (bit<32>)dead_port;
                order.ingress_pe = src;
            }
        }
    }
}

#endif
