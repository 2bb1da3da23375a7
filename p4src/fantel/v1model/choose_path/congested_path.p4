#ifndef FCN_CONGESTED_PATH_P4
#define FCN_CONGESTED_PATH_P4

#include "../../../base/v1model/pe.p4"
#include "../path_state/path_registers.p4"

// CongestedPath: the sender of a flow on a congested path is told; with each report, not all the time until relief, which would
// slow senders down too much (FAN-6).
// Reads:  the policy, the path's slot, congested paths; least_interval: between CNPs; path_congestion; time now in
//         microseconds.
// Writes: meta.fantel.path_cnp_interval and path_cnp_policy.
// When:   the path is chosen, and the policy has senders told.
control CongestedPath(
        in policy_t policy, in path_slot_t slot, in path_set_t congested, in microseconds_t least_interval, in bit<32> now,
        inout pe_meta_t meta) {
    apply {
        if ((congested >> slot)[0:0] == 1 && meta.base.mode.translates != NotificationKind.NONE) {
            bit<32> reported;
            path_congestion.read(reported, policy);
            meta.fantel.path_cnp_policy = policy;
            meta.fantel.path_cnp_interval = now - reported;
            if (meta.fantel.path_cnp_interval < least_interval) {
                meta.fantel.path_cnp_interval = least_interval;
            }
        }
    }
}

#endif
