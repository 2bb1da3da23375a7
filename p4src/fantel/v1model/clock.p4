#ifndef FCN_CLOCK_P4
#define FCN_CLOCK_P4

// The youngest clock packet, 0 for none yet, and the slot that is next
register<bit<32>, bit<1>>(1) clock_token;
register<clock_slot_t, bit<1>>(1) clock_place;
// Rounds of the clock
@name(".clock_rounds")
counter<bit<1>>(1, CounterType.packets) clock_rounds;

// Clock: this target makes no packets of its own, so one circulates through the queue of CLOCK_PORT, whose rate is the
// clock's. Each time one link or path is looked at (FAN-4, FAN-6, FAN-7).
// Reads:  the packet's token, time now in microseconds; registers of links and paths.
// Writes: order, envelope: what is to be said, is_wanted where it is of a path; base.copy_kind and hello_port where it is
//         a hello; is_over: another clock packet has taken this one's place, or the clock stops.
// When:   the clock packet has come round.
control Clock(
        in clock_h clock, in bit<48> now, inout arn_envelope_h envelope, inout order_h order, inout base_meta_t base,
        inout port_t hello_port, out bool is_over) {
    ClockSlot() clock_slot;
    LinkTimer() link_timer;
    LinkLoad() link_load;
    NodeLoad() node_load;
    PathNews() path_news;
    LoadNews() load_news;

    apply {
        bit<32> youngest;
        clock_token.read(youngest, 0);
        bit<32> younger = youngest - clock.token;
        is_over = !clock.isValid() || youngest != 0 && younger != 0 && younger[31:31] == 0;
        order.setValid();
        order.is_wanted = 0;
        bool is_known = false;
        if (!is_over) {
            clock_token.write(0, clock.token);
            is_over = clock.is_last == 1;
            bit<1> runs;
            clock_runs.read(runs, 0);
            if (runs == 0) {
                clock_began.write(0, now);
            }
            clock_runs.write(0, ~clock.is_last);
        }
        if (!is_over) {
            clock_slot_t slot;
            clock_place.read(slot, 0);
            clock_slot.apply(slot, order, envelope);
            slot = slot + 1;
            if (order.task == ClockTask.NONE) {
                slot = 0;
                clock_rounds.count(0);
                bit<48> newest;
                newest_of_rounds.read(newest, 0);
                newest_of_rounds.write(1, newest);
                last_heard.read(newest, CLOCK_PORT);
                newest_of_rounds.write(0, newest);
                node_load.apply();
            } else if (order.task == ClockTask.LINK) {
                bool is_hello;
                link_timer.apply(now, order, is_hello);
                if (is_hello) {
                    base.copy_kind = NotificationKind.HELLO;
                    hello_port = order.port;
                }
                if (order.rate != 0) {
                    link_load.apply(now[31:0], order);
                }
            } else if (order.task == ClockTask.PATH) {
                bit<3> state;
                link_states.read(state, order.port);
                // Of a link that never was up nobody knows whether it is well.
                if (IS_DEAD(state) || state == (bit<3>)LinkState.UP) {
                    is_known = true;
                    order.report = PathReport.WELL;
                    if (IS_DEAD(state)) {
                        order.report = PathReport.FAILED;
                    }
                }
            } else if (order.task == ClockTask.PATH_LOAD) {
                bool is_due;
                load_news.apply(now[31:0], order, is_due);
                order.report = PathReport.LOAD;
                if (is_due) {
                    order.is_wanted = 1;
                }
            } else {
                bit<48> since;
                last_congested.read(since, order.port);
                is_known = true;
                order.report = PathReport.RELIEVED;
                // A packet may be newer than now.
                bit<48> calm = now - since;
                if (since != 0 && (calm[47:47] == 1 || calm < (bit<48>)order.relief)) {
                    order.report = PathReport.CONGESTED;
                }
            }
            if (is_known) {
                bool is_due;
                path_news.apply(order.path_cell, order.report, order.interval, order.time, now[31:0], is_due);
                if (is_due) {
                    order.is_wanted = 1;
                    order.level = 0;
                }
            }
            clock_place.write(0, slot);
        }
    }
}

#endif
