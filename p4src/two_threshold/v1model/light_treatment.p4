#ifndef FCN_LIGHT_TREATMENT_P4
#define FCN_LIGHT_TREATMENT_P4

#include "../../base/v1model/pe.p4"
#include "../light_policy.p4"
#include "../two_threshold_types.p4"
#include "flow_policer.p4"
#include "light_notification.p4"

// LightTreatment: slows a lightly congested flow down, or moves it to another tunnel (PEC-3).
// Reads:  meta.flow_label, meta.two_threshold.hold, time now in microseconds; what LightPolicy says.
// Writes: meta.event; meta.tunnel; meta.base.drop_reason of packets beyond the flow's rate.
// When:   a labelled flow on the way into a tunnel, meta.two_threshold.hold is not 0.
control LightTreatment(inout pe_meta_t meta, in bit<48> now) {
    LightPolicy() light_policy;
    FlowPolicer() flow_policer;

    apply {
        bit<32> last;
        bit<16> index = meta.flow_label[15:0];
        bit<32> now_low = now[31:0] | 1;
        light_congestion_time.read(last, index);
        bit<32> age = now_low - last;
        if (last != 0) {
            if (age < meta.two_threshold.hold) {
                light_policy.apply(meta);
            } else if (age - meta.two_threshold.hold >= meta.two_threshold.hold) {
                // Over for good: when the clock comes round, this time must not look recent.
                light_congestion_time.write(index, 0);
            }
        }
        if (meta.two_threshold.treatment == FlowTreatment.SLOW) {
            meta.event = Event.SLOWED;
            flow_policer.apply(index, meta.two_threshold.slow_interval, meta.two_threshold.slow_tolerance, now, meta.base);
        } else if (meta.two_threshold.treatment == FlowTreatment.REROUTE) {
            meta.event = Event.REROUTED;
        }
    }
}

#endif
