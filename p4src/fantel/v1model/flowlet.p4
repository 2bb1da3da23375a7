#ifndef FCN_FLOWLET_P4
#define FCN_FLOWLET_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"
#include "../paths/path_types.p4"
#include "../paths/policy_of_tunnel.p4"
#include "choose_path/least_loaded.p4"

// Where flows went last, and when: policy ++ 1 ++ slot ++ microseconds; 0: never
register<bit<44>, flowlet_cell_t>(FLOWLET_CELLS) flowlets;

// Flowlet: keeps a flow on its path while its packets follow each other, and lets it take a less loaded one after a pause
// in which those before have arrived (FAN-7). A congested path, too, is left in a pause; one that has failed at once.
// Reads:  the policy; its paths that are usable and those that have failed; the flow's cell and what LastFlowlet found there:
//         is_foreign: a flow of another policy was there so lately that this one may be in the middle; time now in
//         microseconds.
// Writes: the slot, which is that of the flow's hash before; flowlets; what LeastLoaded writes.
// When:   a packet enters a tunnel by a policy whose loads are balanced.
control Flowlet(
        in found_policy_t policy, in path_set_t usable, in path_set_t failed, in flowlet_cell_t cell, in bit<44> last,
        in bool is_foreign, in bit<32> now, inout path_slot_t slot) {
    LeastLoaded() least_loaded;

    apply {
        bit<32> pause = now - last[31:0];
        // A packet may be a little older than one before it.
        bool may_move = last[35:35] == 0 || pause >= policy.least_pause && pause < A_LITTLE_NEWER;
        bool is_new = last[35:35] == 0 || last[43:36] != policy.number;
        path_set_t kept = usable;
        if (!may_move) {
            kept = policy.all & ~failed;
        }
        if (!is_new && (kept >> last[34:32])[0:0] == 1) {
            slot = last[34:32];
        }
        if (may_move && !is_foreign) {
            least_loaded.apply(policy, usable, pause, is_new, slot);
        }
        if (may_move || !is_foreign) {
            flowlets.write(cell, policy.number ++ 1w1 ++ slot ++ now);
        }
    }
}

#endif
