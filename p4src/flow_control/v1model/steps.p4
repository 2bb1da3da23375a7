// The steps of flow control that are alike at a PE and a P.
#ifndef FCN_FLOW_CONTROL_STEPS_P4
#define FCN_FLOW_CONTROL_STEPS_P4

#include "../flow_control.p4"
#include "../flow_control_types.p4"
#include "hold.p4"

// HoldMode
// Writes: meta.flow_control.mode and refresh.
// When:   every packet, before a control that reads the mode.
control HoldMode(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    FlowControlMode() flow_control;

    apply {
        flow_control.apply(meta.flow_control);
    }
}

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
