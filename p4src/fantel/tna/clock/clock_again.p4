#ifndef FCN_TNA_CLOCK_AGAIN_P4
#define FCN_TNA_CLOCK_AGAIN_P4

#include "../../../base/p_headers.p4"
#include "../../../base/tna/pass_headers.p4"
#include "../../../tna/bridge.p4"
#include "../../../tna/p_metadata.p4"
#if HAS_LINKS
#include "../links/clock_slot.p4"
#else
#include "clock_slot.p4"
#endif
#include "clock_turn.p4"

// ClockAgain: the clock packet has come round (v1model's Clock says what for). On this chip it carries its slot.
// Reads:  time; clock header.
// Writes: md.links: now, what the slot says, is_youngest; the clock's next slot, and what the egress has to know; drop: a
//         younger clock packet has taken its place, or the clock stops; port; what Bridge writes.
// When:   every packet but the controller's, behind ToWan; hellos, too, have a slot.
control ClockAgain(
        inout p_pass_headers_t hdr, inout tna_p_meta_t md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
        inout bit<3> drop, inout PortId_t port) {
    ClockSlot() clock_slot;
    ClockTurn() clock_turn;
    Bridge(PassType.CLOCK) bridge_clock;

    bool is_there = false;

    action take_time() {
        md.links.now = TICKS(ig_prsr_md.global_tstamp);
    }
    action end_clock() {
        drop = 1;
        md.links.task = ClockTask.NONE;
    }
    action go_round() {
        port = RECIRC_PORT;
        // ClockSlot has written what a hello has there; a copy is known by its first octet.
        hdr.p.ethernet.dst = 0;
        hdr.clock.said = ClockSays.NOTHING;
        hdr.clock.task = md.links.task;
        hdr.clock.port = md.links.port;
    }

    apply {
        take_time();
        if (md.links.has_slot == 1) {
            clock_slot.apply(
                md.links, hdr.clock, hdr.arrival, hdr.p.ethernet, hdr.p.outer_ipv6, hdr.p.bfd, is_there);
        }
        if (hdr.clock.isValid()) {
            clock_turn.apply(hdr.clock, is_there, md.links.is_youngest);
            bridge_clock.apply(hdr.bridge, hdr.copy);
            go_round();
            if (md.links.is_youngest == 0) {
                end_clock();
            } else if (hdr.clock.is_last == 1) {
                end_clock();
            }
        }
    }
}

#endif
