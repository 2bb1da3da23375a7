#ifndef FCN_AVOID_PATHS_P4
#define FCN_AVOID_PATHS_P4

#include "../../../base/v1model/counters.p4"
#include "path_registers.p4"

// AvoidPaths: which paths traffic leaves alone. The last path is never avoided: where all have failed, the one used last stays
// in use (FAN-5). A path that is well again is avoided until the policy's hold-down is over; not where all had failed.
// Reads:  all paths of the policy, failed and congested; state: path_states before; is_bad: one more is faulty, otherwise one
//         less; time now in microseconds.
// Writes: path_states; path_recovery.
// When:   other paths are faulty than before.
control AvoidPaths(
        in policy_t policy, in path_set_t all, in path_set_t failed, in path_set_t congested, in bit<32> state, in bool is_bad,
        in bit<32> now) {
    apply {
        path_set_t avoid = failed | congested;
        if (avoid == all) {
            if (is_bad) {
                events.count(Event.PATH_NONE_LEFT);
            }
            avoid = failed;
            if (failed == all) {
                avoid = state[7:0];
            }
        }
        // Congestion alone does not end the hold-down of another: traffic would go back and forth.
        path_set_t avoided = state[7:0] | avoid;
        if (avoided == all) {
            avoided = state[7:0] | failed;
        }
        if (avoided == all || state[31:24] == all) {
            avoided = avoid;
        }
        // A hold-down that has begun is not prolonged: a path that flaps would keep out another that is well.
        if (state[15:8] == state[7:0] && !is_bad) {
            path_recovery.write(policy, now);
        }
        path_states.write(policy, failed ++ congested ++ avoid ++ avoided);
    }
}

#endif
