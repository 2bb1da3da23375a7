#ifndef FCN_LAST_FLOWLET_P4
#define FCN_LAST_FLOWLET_P4

#include "../flowlet.p4"

// LastFlowlet: where the flows that hash alike went last. A flow that goes on takes a cell as soon as another policy's has
// paused: one that comes after twice that time has paused itself. Before, its path is that of its hash, and changes by failures
// alone.
// Reads:  the policy and its pause; the flow's cell; failed paths; time now in microseconds.
// Writes: last: the cell; is_foreign: a flow of another policy was there so lately; avoided, where it was.
// When:   the policy balances loads.
control LastFlowlet(
        in policy_t policy, in microseconds_t least_pause, in flowlet_cell_t cell, in path_set_t failed, in bit<32> now,
        inout bit<44> last, inout bool is_foreign, inout path_set_t avoided) {
    apply {
        flowlets.read(last, cell);
        bit<32> pause = now - last[31:0];
        is_foreign = last[35:35] == 1 && last[43:36] != policy && (pause < least_pause << 1 || pause >= A_LITTLE_NEWER);
        if (is_foreign && failed & ~avoided == 0) {
            avoided = failed;
        }
    }
}

#endif
