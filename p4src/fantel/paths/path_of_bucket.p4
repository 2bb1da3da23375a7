#ifndef FCN_PATH_OF_BUCKET_P4
#define FCN_PATH_OF_BUCKET_P4

#include "path_types.p4"

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

#endif
