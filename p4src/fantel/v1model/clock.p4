#ifndef FCN_CLOCK_P4
#define FCN_CLOCK_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/metadata.p4"
#include "../links/bfd_headers.p4"
#include "../links/clock_slot.p4"
#include "../links/link_types.p4"
#include "link_load.p4"
#include "link_registers.p4"
#include "link_timer.p4"
#include "load_refresh.p4"
#include "path_refresh.p4"

// The youngest clock packet, 0 for none yet, and the slot that is next
register<bit<32>, bit<1>>(1) clock_token;
register<clock_slot_t, bit<1>>(1) clock_place;
// Rounds of the clock
@name(".clock_rounds")
counter<bit<1>>(1, CounterType.packets) clock_rounds;

// Clock: this target makes no packets of its own, so one circulates through the queue of CLOCK_PORT, whose rate is the
// clock's. Each time one link or path is looked at (FAN-4, FAN-6, FAN-7).
// Reads:  the packet's token, time now in microseconds; registers of links and paths.
// Writes: hello with envelope, or notice: the report on a path, is_wanted where it is due; base.copy_kind where it is a
//         hello; base.is_done: another clock packet has taken this one's place, or the clock stops; clock_token, clock_place,
//         clock_runs, clock_began, newest_of_rounds, and what LinkTimer, LinkLoad, NodeLoad, PathRefresh, LoadRefresh write.
// When:   the clock packet has come round.
control Clock(
        in clock_h clock, in bit<48> now, inout envelope_h envelope, inout hello_h hello, inout notice_h notice,
        inout base_meta_t base) {
    ClockSlot() clock_slot;
    LinkTimer() link_timer;
    LinkLoad() link_load;
    NodeLoad() node_load;
    PathRefresh() path_refresh;
    LoadRefresh() load_refresh;

    apply {
        bit<32> youngest;
        clock_token.read(youngest, 0);
        bit<32> younger = youngest - clock.token;
        base.is_done = !clock.isValid() || youngest != 0 && younger != 0 && younger[31:31] == 0;
        notice.setValid();
        notice.is_wanted = 0;
        bool is_known = false;
        if (!base.is_done) {
            clock_token.write(0, clock.token);
            base.is_done = clock.is_last == 1;
            bit<1> runs;
            clock_runs.read(runs, 0);
            if (runs == 0) {
                clock_began.write(0, now);
            }
            clock_runs.write(0, ~clock.is_last);
        }
        if (!base.is_done) {
            clock_slot_t slot;
            clock_place.read(slot, 0);
            ClockTask task;
            clock_slot.apply(slot, task, hello, notice, envelope);
            slot = slot + 1;
            if (task == ClockTask.NONE) {
                slot = 0;
                clock_rounds.count(0);
                bit<48> newest;
                newest_of_rounds.read(newest, 0);
                newest_of_rounds.write(1, newest);
                last_heard.read(newest, CLOCK_PORT);
                newest_of_rounds.write(0, newest);
                node_load.apply();
            } else if (task == ClockTask.LINK) {
                bool is_hello;
                link_timer.apply(now, hello, is_hello);
                if (is_hello) {
                    base.copy_kind = NotificationKind.HELLO;
                }
                if (hello.rate != 0) {
                    link_load.apply(now[31:0], hello);
                }
            } else if (task == ClockTask.PATH) {
                bit<3> state;
                link_states.read(state, notice.port);
                // Of a link that never was up nobody knows whether it is well.
                if (IS_DEAD(state) || state == (bit<3>)LinkState.UP) {
                    is_known = true;
                    notice.report = PathReport.WELL;
                    if (IS_DEAD(state)) {
                        notice.report = PathReport.FAILED;
                    }
                }
            } else if (task == ClockTask.PATH_LOAD) {
                bool is_due;
                load_refresh.apply(now[31:0], notice, is_due);
                notice.report = PathReport.LOAD;
                if (is_due) {
                    notice.is_wanted = 1;
                }
            } else {
                bit<48> since;
                last_congested.read(since, notice.port);
                is_known = true;
                notice.report = PathReport.RELIEVED;
                // A packet may be newer than now.
                bit<48> calm = now - since;
                if (since != 0 && (calm[47:47] == 1 || calm < (bit<48>)notice.relief)) {
                    notice.report = PathReport.CONGESTED;
                }
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

// ClockLeaving: the clock packet goes round, with a copy of it that becomes a message.
// Writes: meta.fantel.is_clock, meta.base.now of its next pass.
// When:   in egress, no copy. Ends the pass of the clock packet.
control ClockLeaving(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.egress_port == CLOCK_PORT) {
            if (meta.base.copy_kind != NotificationKind.NONE) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
            }
            meta.fantel.is_clock = 1;
            meta.base.now = standard_metadata.egress_global_timestamp;
            recirculate_preserving_field_list(KEEP_CLOCK);
            exit;
        }
    }
}

#endif
