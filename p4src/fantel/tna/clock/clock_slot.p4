#ifndef FCN_TNA_CLOCK_SLOT_P4
#define FCN_TNA_CLOCK_SLOT_P4

#include "../../../base/tna/pass_headers.p4"
#include "../links/links_metadata.p4"

// ClockSlot: what the clock looks at next, at a P that watches no links: queues of paths (FAN-6).
// Reads:  md.slot.
// Writes: md.task, port; clock and arrival headers: the path, for the egress.
// When:   the clock packet has come round.
control ClockSlot(
        inout links_meta_t md, inout clock_pass_h clock, inout arrival_h arrival,
        inout ethernet_h ethernet, inout ipv6_h ipv6, inout bfd_h bfd, out bool is_there) {
    action watch_path_queue(
            port_t port, core_path_t path_cell, path_id_t path_id, ipv6_addr_t ingress_pe, microseconds_t repeat,
            microseconds_t refresh, microseconds_t relief) {
        md.task = ClockTask.PATH_QUEUE;
        md.port = port;
        clock.cell = 4w0 ++ path_cell;
        clock.report = PathReport.RELIEVED;
        clock.refresh = refresh;
        clock.relief = relief;
        arrival.path_id = path_id;
        arrival.dst = ingress_pe;
    }
    action end_of_round() { }

    @name(".clock_slot")
    table clock_slot {
        key = {
            md.slot[11:0]: exact @name("slot");
        }
        actions = {
            @tableonly watch_path_queue;
            @defaultonly end_of_round;
        }
        const default_action = end_of_round;
        size = CLOCK_SLOTS;
    }

    apply {
        is_there = clock_slot.apply().hit;
    }
}

#endif
