#ifndef FCN_TNA_PATH_OF_LINK_P4
#define FCN_TNA_PATH_OF_LINK_P4

#include "../../../base/tna/externs.p4"
#include "../../../base/tna/pass_headers.p4"
#include "../../../fast_cnp/tna/flow_gate.p4"
#include "links_metadata.p4"

// Messages can be lost: a change is said so often again, each time after the repeat interval, as by v1model.
const bit<8> PATH_REPEATS = 2;

// PathOfLink: a path has failed when the link has by which it leaves (FAN-4); its PE hears of a change at once and twice
// again, and of what is known in the refresh interval.
// Reads:  md.fault, before, now; silence: the repeat interval, interval: that of refreshment; the path's cell.
// Writes: clock header: the report, and that it is due; arrival header: why.
// When:   the clock comes to the link of a path. Of a link that never was up nobody knows whether it is well.
control PathOfLink(inout links_meta_t md, inout clock_pass_h clock, inout arrival_h arrival) {
    bit<1> is_news = 0;
    bit<1> is_due = 0;
    bit<1> is_time = 0;
    bit<1> is_again = 0;
    bool is_known = false;

    FlowGate(CORE_PATH_CELLS) refresh_gate;
    FlowGate(CORE_PATH_CELLS) repeat_gate;
    // Why the path has failed, 0 where it is well; nothing was said before.
    Register<bit<8>, bit<16>>(CORE_PATH_CELLS, 0xff) last_reports;
    RegisterAction<bit<8>, bit<16>, bit<1>>(last_reports) compare = {
        void apply(inout bit<8> last, out bit<1> result) {
            if (last != md.fault) {
                last = md.fault;
                result = 1;
            } else {
                result = 0;
            }
        }
    };

    Register<bit<8>, bit<16>>(CORE_PATH_CELLS) repeats;
    RegisterAction<bit<8>, bit<16>, bit<1>>(repeats) begin = {
        void apply(inout bit<8> count) {
            count = 0;
        }
    };
    RegisterAction<bit<8>, bit<16>, bit<1>>(repeats) count_repeat = {
        void apply(inout bit<8> count, out bit<1> result) {
            if (count < PATH_REPEATS) {
                count = count + 1;
                result = 1;
            } else {
                result = 0;
            }
        }
    };

    action fail() {
        clock.report = PathReport.FAILED;
        arrival.ports = md.fault ++ 24w0;
        is_known = true;
    }
    action clear() {
        clock.report = PathReport.WELL;
        is_known = true;
    }
    action compare_reports() {
        is_news = compare.execute(clock.cell);
    }
    action begin_repeats() {
        begin.execute(clock.cell);
    }
    action try_repeat() {
        is_again = count_repeat.execute(clock.cell);
    }
    action say() {
        clock.said = ClockSays.OF_PATH;
    }

    apply {
        if (md.fault != 0) {
            fail();
        } else if (md.before == SessionState.UP) {
            clear();
        }
        if (is_known) {
            compare_reports();
            refresh_gate.apply(false, clock.cell, md.interval, md.now, is_due);
            repeat_gate.apply(false, clock.cell, md.silence, md.now, is_time);
        }
        if (is_news == 1) {
            begin_repeats();
            say();
        } else {
            if (is_time == 1) {
                try_repeat();
            }
            if (is_due == 1) {
                say();
            } else if (is_again == 1) {
                say();
            }
        }
    }
}

#endif
