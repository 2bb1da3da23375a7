#ifndef FCN_PATH_SELECTION_P4
#define FCN_PATH_SELECTION_P4

#include "../../base/types.p4"
#include "../links/link_types.p4"
#include "path_types.p4"

// PolicyOfTunnel: which policy a route leads to (FAN-4).
// Reads:  the tunnel's number, with POLICY_BIT.
// Writes: the policy, the number of the tunnel of its first path in this VRF, for how long a path that is well again is
//         left alone; after which pause a flow may take another path because of load, never where that is 0, how
//         different loads must be, and how long it takes until loads show what has moved; how far apart CNPs are at least
//         while a flow's path is congested, 0: none; all its paths; is_known.
// When:   a packet is about to enter a tunnel, and its route names a policy.
control PolicyOfTunnel(
        in tunnel_t tunnel, out policy_t policy, out tunnel_t first_tunnel, out microseconds_t hold_down,
        out microseconds_t least_pause, out path_load_t least_difference, out microseconds_t settling,
        out microseconds_t least_cnp_interval, out path_set_t all, out bool is_known) {
    action to_policy(
            policy_t number, tunnel_t first, microseconds_t hold, microseconds_t flowlet_gap, path_load_t margin,
            microseconds_t settle, microseconds_t cnp_interval, path_set_t paths) {
        policy = number;
        first_tunnel = first;
        hold_down = hold;
        least_pause = flowlet_gap;
        least_difference = margin;
        settling = settle;
        least_cnp_interval = cnp_interval;
        all = paths;
        is_known = true;
    }
    action unknown_policy() {
        policy = 0;
        first_tunnel = 0;
        hold_down = 0;
        least_pause = 0;
        least_difference = 0;
        settling = 0;
        least_cnp_interval = 0;
        all = 0;
        is_known = false;
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

// PathOfBucket: the path of a packet. There is an entry for every set of paths that may have to be avoided, so that
// nothing is written when one fails.
// Reads:  the policy, the paths to avoid, the hash of the flow.
// Writes: the path's slot, the paths among which flows are distributed meanwhile; is_known.
// When:   the policy is known.
control PathOfBucket(
        in policy_t policy, in path_set_t avoided, in path_bucket_t bucket, out path_slot_t slot,
        out path_set_t usable, out bool is_known) {
    action take_path(path_slot_t path, path_set_t in_use) {
        slot = path;
        usable = in_use;
        is_known = true;
    }
    action no_path() {
        slot = 0;
        usable = 0;
        is_known = false;
    }

    @name(".path")
    table path {
        key = {
            policy: exact @name("policy");
            avoided: exact @name("avoided");
            bucket: exact @name("bucket");
        }
        actions = {
            @tableonly take_path;
            @defaultonly no_path;
        }
        const default_action = no_path;
        size = PATH_TABLE_SIZE;
    }

    apply {
        path.apply();
    }
}

// PathById: whose path a message names (FAN-1).
// Reads:  its ID.
// Writes: the policy, the path's slot and its bit, the bits of all paths of the policy: none when it is unknown.
// When:   there is a report on a path.
control PathById(
        in path_id_t path_id, out policy_t policy, out path_slot_t slot, out path_set_t path, out path_set_t all) {
    action set_path(policy_t number, path_slot_t path_slot, path_set_t path_bit, path_set_t policy_paths) {
        policy = number;
        slot = path_slot;
        path = path_bit;
        all = policy_paths;
    }
    action unknown_path() {
        policy = 0;
        slot = 0;
        path = 0;
        all = 0;
    }

    @name(".path_by_id")
    table path_by_id {
        key = {
            path_id: exact @name("path_id");
        }
        actions = {
            @tableonly set_path;
            @defaultonly unknown_path;
        }
        const default_action = unknown_path;
        size = PATH_CELLS;
    }

    apply {
        path_by_id.apply();
    }
}

#endif
