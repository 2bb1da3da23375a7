#ifndef FCN_TAKE_LOAD_P4
#define FCN_TAKE_LOAD_P4

#include "../../../base/v1model/pe.p4"
#include "path_registers.p4"

// The load of a path, the reporter, and when: path_load_t ++ reporter_set_t ++ microseconds
register<bit<72>, path_cell_t>(PATH_CELLS) path_load;

// In microseconds: then a report of others counts although it is less.
const bit<32> LOAD_LASTS = 4000000;

// TakeLoad: a path's load is the highest of what its links and nodes report (FAN-7).
// Reads:  the report; the path's policy and slot; time now in microseconds.
// Writes: path_load, policy_loads, path_loads.
// When:   a load is reported.
control TakeLoad(in path_report_h update, in policy_t policy, in path_slot_t slot, in bit<32> now) {
    apply {
        path_cell_t cell = policy ++ slot;
        bit<72> load;
        path_load.read(load, cell);
        path_loads.count(cell);
        // A report by a message may be newer than the clock packet's now.
        bit<32> age = now - load[31:0];
        if (update.load >= load[71:64] || update.reporter == load[63:32]
                || age >= LOAD_LASTS && age < A_LITTLE_NEWER) {
            path_load.write(cell, update.load ++ update.reporter ++ now);
            bit<64> loads;
            policy_loads.read(loads, policy);
            loads = loads & ~(64w0xff << (slot ++ 3w0)) | (bit<64>)update.load << (slot ++ 3w0);
            policy_loads.write(policy, loads);
        }
    }
}

#endif
