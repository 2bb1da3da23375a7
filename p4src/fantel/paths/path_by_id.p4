#ifndef FCN_PATH_BY_ID_P4
#define FCN_PATH_BY_ID_P4

#include "../links/link_types.p4"
#include "path_types.p4"

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
