#ifndef FCN_LEAST_LOADED_P4
#define FCN_LEAST_LOADED_P4

#include "../../../base/v1model/externs.p4"
#include "../../paths/path_types.p4"
#include "../../paths/policy_of_tunnel.p4"
#include "../path_state/path_registers.p4"

// Flows that were moved to a path because others are used more
@name(".path_flowlets")
counter<path_cell_t>(PATH_CELLS, CounterType.packets) path_flowlets;

#define LESS_LOADED(number, loads)                                                 \
    if (usable[number:number] == 1 && loads[8 * number + 7:8 * number] < least) {  \
        least = loads[8 * number + 7:8 * number];                                  \
        best = number;                                                             \
    }

// LeastLoaded: moves a flow to the path of which least is in use (FAN-7). With half the difference of loads as probability
// the loads meet: that is the part of the flows that has to move until loads show it. After a pause of that length it is the
// probability, after a shorter one less in proportion: flows with many pauses would all change sides by the same report. It is
// eight times as much at most, and where a flow begins, which has nothing to overtake.
// Reads:  the policy; its paths that are usable; how long the flow has paused; is_new: it begins; policy_loads.
// Writes: the slot; path_flowlets.
// When:   a flow may move.
control LeastLoaded(
        in found_policy_t policy, in path_set_t usable, in bit<32> pause, in bool is_new, inout path_slot_t slot) {
    apply {
        bit<64> loads;
        policy_loads.read(loads, policy.number);
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
        if (difference > (bit<16>)policy.least_difference) {
            bit<32> longest = policy.settling << 3;
            bit<32> time = pause;
            if (is_new || pause > longest) {
                time = longest;
            }
            bit<16> draw;
            random(draw, 0, 65535);
            // Both times 65536, so that nothing is divided
            if ((bit<48>)draw * (bit<48>)policy.settling < ((bit<48>)difference << 8) * (bit<48>)time) {
                slot = best;
                path_flowlets.count(policy.number ++ slot);
            }
        }
    }
}

#endif
