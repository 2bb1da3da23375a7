#ifndef FCN_CLOCK_TURN_P4
#define FCN_CLOCK_TURN_P4

#include "../../../base/v1model/externs.p4"
#include "../../links/bfd_headers.p4"
#include "../link_registers.p4"

// The youngest clock packet, 0 for none yet
register<bit<32>, bit<1>>(1) clock_token;

// ClockTurn: one clock packet circulates; others end.
// Reads:  the packet's token; time now in microseconds.
// Writes: is_done: another clock packet has taken this one's place, or the clock stops; clock_token, clock_runs, clock_began.
// When:   the clock packet has come round.
control ClockTurn(in clock_h clock, in bit<48> now, inout bool is_done) {
    apply {
        bit<32> youngest;
        clock_token.read(youngest, 0);
        bit<32> younger = youngest - clock.token;
        is_done = !clock.isValid() || youngest != 0 && younger != 0 && younger[31:31] == 0;
        if (!is_done) {
            clock_token.write(0, clock.token);
            is_done = clock.is_last == 1;
            bit<1> runs;
            clock_runs.read(runs, 0);
            if (runs == 0) {
                clock_began.write(0, now);
            }
            clock_runs.write(0, ~clock.is_last);
        }
    }
}

#endif
