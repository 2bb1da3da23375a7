#ifndef FCN_PATH_HOLD_DOWN_P4
#define FCN_PATH_HOLD_DOWN_P4

#include "../path_state/path_registers.p4"

// PathHoldDown: traffic comes back to paths that have been well again for long enough.
// Reads:  the policy and its hold-down; path_recovery; time now in microseconds.
// Writes: state: path_states from now on.
// When:   the policy is known.
control PathHoldDown(in policy_t policy, in microseconds_t hold_down, in bit<32> now, out bit<32> state) {
    apply {
        path_states.read(state, policy);
        if (state[15:8] != state[7:0]) {
            bit<32> since;
            path_recovery.read(since, policy);
            bit<32> elapsed = now - since;
            if (elapsed >= hold_down && elapsed < A_LITTLE_NEWER) {
                state[7:0] = state[15:8];
                path_states.write(policy, state);
            }
        }
    }
}

#endif
