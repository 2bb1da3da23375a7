#ifndef FCN_TNA_CLOCK_RUNS_P4
#define FCN_TNA_CLOCK_RUNS_P4

#include "../../../base/tna/externs.p4"
#include "../../../base/tna/pass_headers.p4"

// ClockRuns: does anybody look at links? Otherwise nobody would notice that one is up again.
// Reads:  clock header; is_youngest: it is the clock.
// Writes: runs.
// When:   the clock, or a packet that may leave by a dead link.
control ClockRuns(in clock_pass_h clock, in bit<1> is_youngest, inout bit<1> runs) {
    Register<bit<8>, bit<1>>(1) clock_runs;
    RegisterAction<bit<8>, bit<1>, bit<1>>(clock_runs) go = {
        void apply(inout bit<8> known) {
            known = 1;
        }
    };
    RegisterAction<bit<8>, bit<1>, bit<1>>(clock_runs) end = {
        void apply(inout bit<8> known) {
            known = 0;
        }
    };
    RegisterAction<bit<8>, bit<1>, bit<1>>(clock_runs) look = {
        void apply(inout bit<8> known, out bit<1> result) {
            if (known == 1) {
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    action note_going() {
        go.execute(0);
    }
    action note_end() {
        end.execute(0);
    }
    action try_look() {
        runs = look.execute(0);
    }

    apply {
        if (!clock.isValid()) {
            try_look();
        } else if (is_youngest == 1) {
            if (clock.is_last == 1) {
                note_end();
            } else {
                note_going();
            }
        }
    }
}

#endif
