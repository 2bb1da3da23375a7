#ifndef FCN_PATH_STATE_P4
#define FCN_PATH_STATE_P4

#include "../../base/v1model/pe.p4"
#include "../links/link_types.p4"
#include "../paths/path_selection.p4"
#include "../paths/path_types.p4"

// What is known of a policy's paths, four sets: failed ++ congested ++ those to avoid ++ those that are avoided.
// The last has more than the third for the hold-down after a path is well again.
register<bit<32>, policy_t>(POLICY_CELLS) path_states;
// When the hold-down of the policy began: a path was well again or relieved while none was left alone; microseconds
register<bit<32>, policy_t>(POLICY_CELLS) path_recovery;

// Who says that a path has failed (path_cell_t ++ 0), and who that it is congested (path_cell_t ++ 1)
register<reporter_set_t, path_fault_cell_t>(PATH_FAULT_CELLS) path_faults;

// Changes alone: of a path, FAILED less WELL is 1 while it has failed, CONGESTED less RELIEVED while it is congested.
@name(".path_reports")
counter<path_report_cell_t>(PATH_REPORT_CELLS, CounterType.packets_and_bytes) path_reports;
// How often a load was reported of a path
@name(".path_loads")
counter<path_cell_t>(PATH_CELLS, CounterType.packets) path_loads;
@name(".path_traffic")
counter<path_cell_t>(PATH_CELLS, CounterType.packets_and_bytes) path_traffic;

// When congestion of any path of the policy was reported last, in microseconds
register<bit<32>, policy_t>(POLICY_CELLS) path_congestion;
// How many senders may still hear of that: none starts a flood
register<bit<16>, policy_t>(POLICY_CELLS) path_cnps;
// The load of a path, the reporter, and when: path_load_t ++ reporter_set_t ++ microseconds
register<bit<72>, path_cell_t>(PATH_CELLS) path_load;

// The load of a policy's paths, by slot, that of slot 0 last
register<bit<64>, policy_t>(POLICY_CELLS) policy_loads;

// In microseconds: then a report of others counts although it is less.
const bit<32> LOAD_LASTS = 4000000;

// PathState: takes in a report on a path (FAN-4 to FAN-7). From the next packet on traffic avoids a path that has
// failed, and one that is congested while another is not. Traffic comes back after the policy's hold-down; at once where
// all had failed. The last path is never avoided: where all have failed, the one used last stays in use. A path of which
// two report the failure is well again when both have reported so. Of loads of one path the highest counts.
// Reads:  the path's ID, the report, the reporter; time now in microseconds.
// Writes: all registers; nothing_left: the report is bad, and no other path of the policy is better.
// When:   a message is accepted, or the controller or the clock of this PE reports.
control PathState(in path_report_h update, in bit<48> now, out bool nothing_left) {
    PathById() path_by_id;

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
            path_cell_t cell = policy ++ slot;
            bit<72> load;
            path_load.read(load, cell);
            path_loads.count(cell);
            // A report by a message may be newer than the clock packet's now.
            bit<32> age = now[31:0] - load[31:0];
            if (update.load >= load[71:64] || update.reporter == load[63:32]
                    || age >= LOAD_LASTS && age < A_LITTLE_NEWER) {
                path_load.write(cell, update.load ++ update.reporter ++ now[31:0]);
                bit<64> loads;
                policy_loads.read(loads, policy);
                loads = loads & ~(64w0xff << (slot ++ 3w0)) | (bit<64>)update.load << (slot ++ 3w0);
                policy_loads.write(policy, loads);
            }
        } else {
            bit<32> state;
            path_states.read(state, policy);
            path_set_t failed = state[31:24];
            path_set_t congested = state[23:16];
            bool had_failed = failed == all;
            path_cell_t cell = policy ++ slot;
            bool is_bad = update.report == PathReport.FAILED || update.report == PathReport.CONGESTED;
            bool is_failure = update.report == PathReport.FAILED || update.report == PathReport.WELL;
            path_set_t faulty = is_failure ? failed : congested;
            path_fault_cell_t fault_cell = cell ++ (is_failure ? 1w0 : 1w1);
            reporter_set_t reporters;
            path_faults.read(reporters, fault_cell);
            if (is_bad) {
                reporters = reporters | update.reporter;
                faulty = faulty | path;
            } else {
                reporters = reporters & ~update.reporter;
                if (reporters == 0) {
                    faulty = faulty & ~path;
                }
            }
            path_faults.write(fault_cell, reporters);
            if (is_failure) {
                failed = faulty;
            } else {
                congested = faulty;
            }
            if (update.report == PathReport.CONGESTED) {
                path_congestion.write(policy, now[31:0]);
                path_cnps.write(policy, (bit<16>)PATH_CNPS);
            }
            nothing_left = is_bad && (failed | congested) == all;
            if (failed != state[31:24] || congested != state[23:16]) {
                path_reports.count(cell ++ ((bit<3>)update.report)[1:0]);
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
                if (avoided == all || had_failed) {
                    avoided = avoid;
                }
                // A hold-down that has begun is not prolonged: a path that flaps would keep out another that is well.
                if (state[15:8] == state[7:0] && !is_bad) {
                    path_recovery.write(policy, now[31:0]);
                }
                path_states.write(policy, failed ++ congested ++ avoid ++ avoided);
            }
        }
    }
}

#endif
