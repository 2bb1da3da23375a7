#ifndef FCN_POLICY_OF_TUNNEL_P4
#define FCN_POLICY_OF_TUNNEL_P4

#include "../../base/types.p4"
#include "path_types.p4"

// A policy, as a packet finds it
struct found_policy_t {
    bool is_known;
    policy_t number;
    // The tunnel of its first path in this VRF
    tunnel_t first_tunnel;
    path_set_t all;
    // For how long a path that is well again is left alone
    microseconds_t hold_down;
    // After which pause a flow may take another path because of load, 0: never; how different loads must be, and how long
    // it takes until loads show what has moved
    microseconds_t least_pause;
    path_load_t least_difference;
    microseconds_t settling;
    // How far apart CNPs are at least while a flow's path is congested, 0: none
    microseconds_t least_cnp_interval;
}

// PolicyOfTunnel: which policy a route leads to (FAN-4).
// Reads:  the tunnel's number, with POLICY_BIT.
// Writes: policy; it is not known where there is no entry.
// When:   a packet is about to enter a tunnel, and its route names a policy.
control PolicyOfTunnel(in tunnel_t tunnel, out found_policy_t policy) {
    action to_policy(
            policy_t number, tunnel_t first, microseconds_t hold, microseconds_t flowlet_gap, path_load_t margin,
            microseconds_t settle, microseconds_t cnp_interval, path_set_t paths) {
        policy.is_known = true;
        policy.number = number;
        policy.first_tunnel = first;
        policy.all = paths;
        policy.hold_down = hold;
        policy.least_pause = flowlet_gap;
        policy.least_difference = margin;
        policy.settling = settle;
        policy.least_cnp_interval = cnp_interval;
    }
    action unknown_policy() {
        policy.is_known = false;
        policy.number = 0;
        policy.first_tunnel = 0;
        policy.all = 0;
        policy.hold_down = 0;
        policy.least_pause = 0;
        policy.least_difference = 0;
        policy.settling = 0;
        policy.least_cnp_interval = 0;
    }

    @name(".policy")
    table policies {
        key = {
            tunnel: exact @name("tunnel");
        }
        actions = {
            @tableonly to_policy;
            @defaultonly unknown_policy;
        }
        const default_action = unknown_policy;
        size = POLICY_TABLE_SIZE;
    }

    apply {
        policies.apply();
    }
}

#endif
