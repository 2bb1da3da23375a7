#ifndef FCN_TNA_CLOCK_SLOT_P4
#define FCN_TNA_CLOCK_SLOT_P4

#include "../../../base/tna/pass_headers.p4"
#include "links_metadata.p4"

// ClockSlot: what the clock looks at next, as of v1model's (FAN-4, FAN-6). A hello asks for its slot once more, when its
// headers are made.
// Reads:  md.slot, now.
// Writes: md.task, port, silence, interval; clock and arrival headers: the path, for the egress; of a hello, addresses,
//         BFD header.
// When:   the clock packet, or a hello, has come round.
control ClockSlot(
        inout links_meta_t md, inout clock_pass_h clock, inout arrival_h arrival,
        inout ethernet_h ethernet, inout ipv6_h ipv6, inout bfd_h bfd, out bool is_there) {
    // The rate is of loads, which a chip does not measure.
    action watch_link(
            port_t port, microseconds_t interval, microseconds_t detection_time, bit<8> detect_multiplier,
            bit<32> discriminator, mac_addr_t src_mac, mac_addr_t dst_mac, ipv6_addr_t src, ipv6_addr_t dst,
            bit<32> rate) {
        md.task = ClockTask.LINK;
        md.port = port;
        SET_INTERVAL(md.silence, md.now, detection_time)
        SET_INTERVAL(md.interval, md.now, interval)
        ethernet.src = src_mac;
        ethernet.dst = dst_mac;
        ipv6.src = src;
        ipv6.dst = dst;
        bfd.detect_multiplier = detect_multiplier;
        bfd.my_discriminator = discriminator;
        bfd.desired_min_tx = interval;
        bfd.required_min_rx = interval;
    }
    action watch_path(
            port_t port, core_path_t path_cell, path_id_t path_id, ipv6_addr_t ingress_pe, microseconds_t repeat,
            microseconds_t refresh) {
        md.task = ClockTask.PATH;
        md.port = port;
        SET_INTERVAL(md.silence, md.now, repeat)
        SET_INTERVAL(md.interval, md.now, refresh)
        clock.cell = 4w0 ++ path_cell;
        arrival.path_id = path_id;
        arrival.dst = ingress_pe;
    }
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
            @tableonly watch_link;
            @tableonly watch_path;
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
