#ifndef FCN_HOLD_MODE_P4
#define FCN_HOLD_MODE_P4

#include "../flow_control.p4"
#include "../flow_control_types.p4"

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

#endif
