#ifndef FCN_HELD_PRIORITY_P4
#define FCN_HELD_PRIORITY_P4

#include "flow_control_types.p4"

// HeldPriority: a PAUSE frame is about a priority of the data centre, whatever the domain holds.
// Reads:  meta.dc_priority.
// Writes: meta.traffic, by which ArnGate tells what it repeats; meta.is_named.
// When:   before ArnGate, where a data centre is asked.
control HeldPriority(inout flow_control_meta_t meta) {
    apply {
        meta.traffic = NO_TRAFFIC;
        meta.is_named = true;
        meta.traffic.priority = (bit<32>)meta.dc_priority;
    }
}

#endif
