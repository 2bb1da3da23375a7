#ifndef FCN_FANTEL_ARRIVAL_P4
#define FCN_FANTEL_ARRIVAL_P4

#include "../../base/pe_headers.p4"
#include "../links/link_types.p4"
#include "fantel_headers.p4"
#include "../paths/path_types.p4"

// FantelArrival: who speaks, about which path, and what of (FAN-4, FAN-6 to FAN-8)?
// Reads:  port and underlay source, FANTEL headers; whether the source is trusted and the message sound.
// Writes: the speaker's cell; path_report: what it says of which path, its bit among those who may, the load; drop_reason.
// When:   a FANTEL message for this node from a core port.
control FantelArrival(
        in port_t port, in ipv6_addr_t src, in fantel_headers_t fantel, in bool is_trusted, in bool is_sound,
        out reporter_cell_t reporter, inout path_report_h path_report, inout DropReason drop_reason) {
    bool is_reporter = false;
    bool is_way = false;
    bit<8> level = 0;

    action set_reporter(reporter_cell_t reporter_cell, reporter_set_t bit_of_path) {
        is_reporter = true;
        reporter = reporter_cell;
        path_report.setValid();
        path_report.path_id = fantel.path.value;
        path_report.reporter = bit_of_path;
        path_report.load = PATH_LOAD(fantel.utilization.value[31:16], level);
    }
    action no_reporter() {
        reporter = 0;
    }

    // Links and nodes on a path that have something to say about it: nobody else is heard.
    @name(".path_reporter")
    table path_reporter {
        key = {
            src: exact @name("source");
            fantel.origin.node: exact @name("node");
            fantel.origin.link: exact @name("link");
            fantel.path.value: exact @name("path_id");
        }
        actions = {
            @tableonly set_reporter;
            @defaultonly no_reporter;
        }
        const default_action = no_reporter;
        size = PATH_REPORTER_CELLS;
    }

    action comes_this_way() {
        is_way = true;
    }
    action comes_another_way() { }

    // The ports by which messages of a node come: who speaks in its name elsewhere is another.
    @name(".reporter_port")
    table reporter_port {
        key = {
            src: exact @name("source");
            port: exact @name("ingress_port");
        }
        actions = {
            @tableonly comes_this_way;
            @defaultonly comes_another_way;
        }
        const default_action = comes_another_way;
        size = PATH_REPORTER_CELLS;
    }

    action refuse_fantel(DropReason reason) {
        drop_reason = reason;
        path_report.setInvalid();
    }
    action take_report(PathReport of_path) {
        path_report.report = of_path;
    }

    @name(".fantel_arrival")
    table fantel_arrival {
        key = {
            is_trusted: ternary @name("is_trusted");
            is_sound: ternary @name("is_sound");
            fantel.fantel.type: ternary @name("type");
            fantel.fantel.code: ternary @name("code");
            is_reporter: ternary @name("is_reporter");
            is_way: ternary @name("is_way");
        }
        actions = {
            refuse_fantel;
            take_report;
        }
        const default_action = refuse_fantel(DropReason.FANTEL_UNSUPPORTED);
        const entries = {
            (false, _, _, _, _, _): refuse_fantel(DropReason.NOTIFICATION_UNTRUSTED);
            (_, false, _, _, _, _): refuse_fantel(DropReason.NOTIFICATION_MALFORMED);
            (_, _, _, 0 &&& FANTEL_PATH, _, _): refuse_fantel(DropReason.FANTEL_UNSUPPORTED);
            (_, _, _, _, false, _): refuse_fantel(DropReason.PATH_REPORTER_UNKNOWN);
            (_, _, _, _, _, false): refuse_fantel(DropReason.NOTIFICATION_WRONG_PORT);
            (_, _, FantelType.FAILURE, _, _, _): take_report(PathReport.FAILED);
            (_, _, FantelType.FAILURE_CLEARED, _, _, _): take_report(PathReport.WELL);
            (_, _, FantelType.CONGESTION, _, _, _): take_report(PathReport.CONGESTED);
            (_, _, FantelType.CONGESTION_CLEARED, _, _, _): take_report(PathReport.RELIEVED);
            (_, _, FantelType.LOAD, FANTEL_UTILIZATION &&& FANTEL_UTILIZATION, _, _): take_report(PathReport.LOAD);
        }
    }

    apply {
        if (fantel.buffer.isValid()) {
            level = fantel.buffer.level;
        }
        path_reporter.apply();
        reporter_port.apply();
        fantel_arrival.apply();
    }
}

#endif
