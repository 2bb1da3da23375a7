#ifndef FCN_LIGHT_TREATMENT_P4
#define FCN_LIGHT_TREATMENT_P4

// LightTreatment: slows a lightly congested flow down, or moves it to another tunnel (PEC-3).
// Reads:  meta.flow_label, meta.light_hold, time now in microseconds; what LightPolicy says.
// Writes: meta.event; meta.tunnel; meta.base.drop_reason of packets beyond the flow's rate.
// When:   a labelled flow on the way into a tunnel, meta.light_hold is not 0.
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
            if (age < meta.light_hold) {
                light_policy.apply(meta);
            } else if (age - meta.light_hold >= meta.light_hold) {
                // Over for good: when the clock comes round, this time must not look recent.
                light_congestion_time.write(index, 0);
            }
        }
        if (meta.treatment == FlowTreatment.SLOW) {
            meta.event = Event.SLOWED;
            flow_policer.apply(index, meta.slow_interval, meta.slow_tolerance, now, meta.base);
        } else if (meta.treatment == FlowTreatment.REROUTE) {
            meta.event = Event.REROUTED;
        }
    }
}

#endif
