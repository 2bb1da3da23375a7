#ifndef FCN_FLOW_LEARNING_P4
#define FCN_FLOW_LEARNING_P4

#include "../base/pe_metadata.p4"

// FlowLearning: are new flows and connection set-ups reported to the controller? (FCN-3)
// Writes: meta.learning_enabled, meta.learning_window (same-flow reports are that far apart).
// When:   every packet entering a tunnel.
control FlowLearning(inout pe_meta_t meta) {
    action learning_on(interval_t window) {
        meta.learning_enabled = 1;
        meta.learning_window = window;
    }
    action learning_off() {
        meta.learning_enabled = 0;
    }

    PLACED(flow_learning) @name(".flow_learning")
    table flow_learning {
        actions = {
            learning_on;
            learning_off;
        }
        default_action = learning_off;
    }

    apply {
        flow_learning.apply();
    }
}

#endif
