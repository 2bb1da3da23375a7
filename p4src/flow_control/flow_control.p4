#ifndef FCN_FLOW_CONTROL_P4
#define FCN_FLOW_CONTROL_P4

#include "../base/types.p4"
#include "flow_control_types.p4"

// FlowControlMode: what neighbours stop for each other in this domain (SRF-6, FCN-16).
// Writes: meta.mode, meta.refresh: the refresh interval of ARNs while a queue stays congested.
// When:   every packet, before a control that reads meta.mode.
control FlowControlMode(inout flow_control_meta_t meta) {
    action set_flow_control(FlowControl mode, microseconds_t refresh) {
        meta.mode = mode;
        meta.refresh = refresh;
    }

    PLACED(flow_control) @name(".flow_control")
    table flow_control {
        actions = {
            set_flow_control;
        }
        default_action = set_flow_control(FlowControl.OFF, 0);
    }

    apply {
        flow_control.apply();
    }
}

#endif
