#ifndef FCN_FLOWLET_P4
#define FCN_FLOWLET_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"
#include "../paths/path_types.p4"
#include "path_state.p4"

// Where flows went last, and when: policy ++ 1 ++ slot ++ microseconds; 0: never
register<bit<44>, flowlet_cell_t>(FLOWLET_CELLS) flowlets;

// Flows that were moved to a path because others are used more
@name(".path_flowlets")
counter<path_cell_t>(PATH_CELLS, CounterType.packets) path_flowlets;

#define LESS_LOADED(number, loads)                                                 \
    if (usable[number:number] == 1 && loads[8 * number + 7:8 * number] < least) {  \
        least = loads[8 * number + 7:8 * number];                                  \
        best = number;                                                             \
    }

// Flowlet: keeps a flow on its path while its packets follow each other, and lets it take a less loaded one after a pause
// in which those before have arrived (FAN-7). With half the difference of loads as probability the loads meet: that is
// the part of the flows that has to move until loads show it. After a pause of that length it is the probability, after
// a shorter one less in proportion: flows with many pauses would all change sides by the same report. It is eight times as
// much at most, and where a flow begins, which has nothing to overtake. A congested path, too, is left in a pause; one
// that has failed at once.
// Reads:  the policy, the paths that are usable and those that have not failed, the hash of the flow and what is known of it;
//         is_foreign: a flow of another policy was there so lately that this one may be in the middle; after which pause
//         it may move, for which difference of loads, and how long loads take to show it; time now in microseconds;
//         policy_loads.
// Writes: the slot, which is that of the flow's hash before; flowlets, path_flowlets.
// When:   a packet enters a tunnel by a policy whose loads are balanced.
control Flowlet(
        in policy_t policy, in path_set_t usable, in path_set_t well, in flowlet_cell_t cell, in bit<44> last,
        in bool is_foreign, in microseconds_t least_pause, in path_load_t least_difference,
        in microseconds_t settling, in bit<32> now,
        inout path_slot_t slot) {
    apply {
        bit<32> pause = now - last[31:0];
        // A packet may be a little older than one before it.
        bool may_move = last[35:35] == 0 || pause >= least_pause && pause < A_LITTLE_NEWER;
        bool is_new = last[35:35] == 0 || last[43:36] != policy;
        path_set_t kept = usable;
        if (!may_move) {
            kept = well;
        }
        if (!is_new && (kept >> last[34:32])[0:0] == 1) {
            slot = last[34:32];
        }
        if (may_move && !is_foreign) {
            bit<64> loads;
            policy_loads.read(loads, policy);
            path_load_t current = (path_load_t)(loads >> (slot ++ 3w0));
            path_load_t least = current;
            path_slot_t best = slot;
            LESS_LOADED(0, loads)
            LESS_LOADED(1, loads)
            LESS_LOADED(2, loads)
            LESS_LOADED(3, loads)
            LESS_LOADED(4, loads)
            LESS_LOADED(5, loads)
            LESS_LOADED(6, loads)
            LESS_LOADED(7, loads)
            bit<16> difference = (bit<16>)(current - least);
            if (difference > (bit<16>)least_difference) {
                bit<32> longest = settling << 3;
                if (is_new || pause > longest) {
                    pause = longest;
                }
                bit<16> draw;
                random(draw, 0, 65535);
                // Both times 65536, so that nothing is divided
                if ((bit<48>)draw * (bit<48>)settling < ((bit<48>)difference << 8) * (bit<48>)pause) {
                    slot = best;
                    path_flowlets.count(policy ++ slot);
                }
            }
        }
        if (may_move || !is_foreign) {
            flowlets.write(cell, policy ++ 1w1 ++ slot ++ now);
        }
    }
}

#endif
