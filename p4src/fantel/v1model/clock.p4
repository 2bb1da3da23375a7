#ifndef FCN_CLOCK_P4
#define FCN_CLOCK_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/metadata.p4"
#include "../links/bfd_headers.p4"
#include "../links/clock_slot.p4"
#include "../links/link_types.p4"
#include "clock/clock_turn.p4"
#include "clock/end_round.p4"
#include "clock/path_of_link.p4"
#include "clock/path_of_queue.p4"
#include "link_load.p4"
#include "link_timer.p4"
#include "load_refresh.p4"
#include "path_refresh.p4"

// The slot that is next
register<clock_slot_t, bit<1>>(1) clock_place;

// Clock: this target makes no packets of its own, so one circulates through the queue of CLOCK_PORT, whose rate is the
// clock's. Each time one link or path is looked at (FAN-4, FAN-6, FAN-7).
// Reads:  the packet's token, time now in microseconds; registers of links and paths.
// Writes: hello with envelope, or notice: the report on a path, is_wanted where it is due; base.copy_kind where it is a
//         hello; base.is_done: the packet ends; clock_place, and what its controls write.
// When:   the clock packet has come round.
control Clock(
        in clock_h clock, in bit<48> now, inout envelope_h envelope, inout hello_h hello, inout notice_h notice,
        inout base_meta_t base) {
    ClockTurn() clock_turn;
    ClockSlot() clock_slot;
    EndRound() end_round;
    LinkTimer() link_timer;
    LinkLoad() link_load;
    PathOfLink() path_of_link;
    PathOfQueue() path_of_queue;
    PathRefresh() path_refresh;
    LoadRefresh() load_refresh;

    apply {
        notice.setValid();
        notice.is_wanted = 0;
        clock_turn.apply(clock, now, base.is_done);
        if (!base.is_done) {
            bool is_known = false;
            clock_slot_t slot;
            ClockTask task;
            clock_place.read(slot, 0);
            clock_slot.apply(slot, task, hello, notice, envelope);
            slot = slot + 1;
            if (task == ClockTask.NONE) {
                slot = 0;
                end_round.apply();
            } else if (task == ClockTask.LINK) {
                link_timer.apply(now, hello, base.copy_kind);
                if (hello.rate != 0) {
                    link_load.apply(now[31:0], hello);
                }
            } else if (task == ClockTask.PATH) {
                path_of_link.apply(notice, is_known);
            } else if (task == ClockTask.PATH_LOAD) {
                load_refresh.apply(now[31:0], notice);
            } else {
                is_known = true;
                path_of_queue.apply(now, notice);
            }
            if (is_known) {
                bool is_due;
                path_refresh.apply(notice.path_cell, notice.report, notice.interval, notice.time, now[31:0], is_due);
                if (is_due) {
                    notice.is_wanted = 1;
                    notice.level = 0;
                }
            }
            clock_place.write(0, slot);
        }
    }
}

#endif
