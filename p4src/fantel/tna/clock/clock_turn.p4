#ifndef FCN_TNA_CLOCK_TURN_P4
#define FCN_TNA_CLOCK_TURN_P4

#include "../../../base/tna/externs.p4"
#include "../../../base/tna/pass_headers.p4"

// ClockTurn: of several clock packets the youngest goes on, with the next slot.
// Reads:  clock header; is_there: it is a slot.
// Writes: the clock's next slot; is_youngest: no younger packet has taken its place; counter clock_rounds.
// When:   the clock packet has come round, behind ClockSlot.
control ClockTurn(inout clock_pass_h clock, in bool is_there, inout bit<1> is_youngest) {
    @name(".clock_rounds")
    Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) clock_rounds;

    Register<bit<32>, bit<1>>(1) youngest;
    RegisterAction<bit<32>, bit<1>, bit<1>>(youngest) compare = {
        void apply(inout bit<32> token, out bit<1> result) {
            if (clock.token >= token) {
                token = clock.token;
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    action compare_tokens() {
        is_youngest = compare.execute(0);
    }
    action next_slot() {
        clock.slot = clock.slot + 1;
    }
    action first_slot() {
        clock.slot = 0;
        clock.has_begun = 1;
    }

    apply {
        compare_tokens();
        if (is_there) {
            next_slot();
        } else {
            clock_rounds.count(0);
            first_slot();
        }
    }
}

#endif
