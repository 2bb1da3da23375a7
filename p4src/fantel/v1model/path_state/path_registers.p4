// What is known of policies and their paths.
#ifndef FCN_PATH_REGISTERS_P4
#define FCN_PATH_REGISTERS_P4

#include "../../../base/v1model/externs.p4"
#include "../../paths/path_types.p4"

// What is known of a policy's paths, four sets: failed ++ congested ++ those to avoid ++ those that are avoided.
// The last has more than the third for the hold-down after a path is well again.
register<bit<32>, policy_t>(POLICY_CELLS) path_states;
// When the hold-down of the policy began: a path was well again or relieved while none was left alone; microseconds
register<bit<32>, policy_t>(POLICY_CELLS) path_recovery;

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
// The load of a policy's paths, by slot, that of slot 0 last
register<bit<64>, policy_t>(POLICY_CELLS) policy_loads;

#endif
