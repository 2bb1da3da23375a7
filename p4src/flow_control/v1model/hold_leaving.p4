#ifndef FCN_HOLD_LEAVING_P4
#define FCN_HOLD_LEAVING_P4

#include "../flow_control_types.p4"
#include "hold/hold_registers.p4"

// HoldLeaving
// Writes: queue_depths, by which Hold finds gaps.
// When:   a packet leaves by a wire.
control HoldLeaving(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.flow_control.mode != FlowControl.OFF) {
            queue_depths.write(standard_metadata.egress_port, standard_metadata.deq_qdepth);
        }
    }
}

#endif
