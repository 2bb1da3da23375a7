#ifndef FCN_END_ROUND_P4
#define FCN_END_ROUND_P4

#include "../../../base/v1model/externs.p4"
#include "../link_registers.p4"
#include "../node_load.p4"

// Rounds of the clock
@name(".clock_rounds")
counter<bit<1>>(1, CounterType.packets) clock_rounds;

// EndRound: every link and path was looked at.
// Reads:  last_heard.
// Writes: newest_of_rounds; clock_rounds; what NodeLoad writes.
// When:   the clock comes to the place behind the last slot.
control EndRound() {
    NodeLoad() node_load;

    apply {
        clock_rounds.count(0);
        bit<48> newest;
        newest_of_rounds.read(newest, 0);
        newest_of_rounds.write(1, newest);
        last_heard.read(newest, CLOCK_PORT);
        newest_of_rounds.write(0, newest);
        node_load.apply();
    }
}

#endif
