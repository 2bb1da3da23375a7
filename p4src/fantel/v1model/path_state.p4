#ifndef FCN_PATH_STATE_P4
#define FCN_PATH_STATE_P4

#include "../../base/v1model/pe.p4"
#include "../links/link_types.p4"
#include "../paths/path_by_id.p4"
#include "../paths/path_types.p4"
#include "path_state/avoid_paths.p4"
#include "path_state/path_registers.p4"
#include "path_state/take_fault.p4"
#include "path_state/take_load.p4"

// PathState: takes in a report on a path (FAN-4 to FAN-7). From the next packet on traffic avoids a path that has
// failed, and one that is congested while another is not. Traffic comes back after the policy's hold-down; at once where
// all had failed. The last path is never avoided: where all have failed, the one used last stays in use. A path of which
// two report the failure is well again when both have reported so. Of loads of one path the highest counts.
// Reads:  the path's ID, the report, the reporter; time now in microseconds.
// Writes: all registers; nothing_left: the report is bad, and no other path of the policy is better.
// When:   a message is accepted, or the controller or the clock of this PE reports.
control PathState(in path_report_h update, in bit<48> now, out bool nothing_left) {
    PathById() path_by_id;
    TakeLoad() take_load;
    TakeFault() take_fault;
    AvoidPaths() avoid_paths;

    apply {
        policy_t policy;
        path_slot_t slot;
        path_set_t path;
        path_set_t all;
        path_by_id.apply(update.path_id, policy, slot, path, all);
        nothing_left = false;
        if (all == 0) {
            events.count(Event.PATH_UNKNOWN);
        } else if (update.report == PathReport.LOAD) {
            take_load.apply(update, policy, slot, now[31:0]);
        } else {
            bit<32> state;
            path_states.read(state, policy);
            path_set_t failed = state[31:24];
            path_set_t congested = state[23:16];
            bool is_bad = update.report == PathReport.FAILED || update.report == PathReport.CONGESTED;
            take_fault.apply(update, is_bad, policy ++ slot, path, failed, congested);
            if (update.report == PathReport.CONGESTED) {
                path_congestion.write(policy, now[31:0]);
                path_cnps.write(policy, (bit<16>)PATH_CNPS);
            }
            nothing_left = is_bad && (failed | congested) == all;
            if (failed != state[31:24] || congested != state[23:16]) {
                path_reports.count(policy ++ slot ++ ((bit<3>)update.report)[1:0]);
                avoid_paths.apply(policy, all, failed, congested, state, is_bad, now[31:0]);
            }
        }
    }
}

#endif
