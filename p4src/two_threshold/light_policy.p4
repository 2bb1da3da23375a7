#ifndef FCN_LIGHT_POLICY_P4
#define FCN_LIGHT_POLICY_P4

#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"
#include "two_threshold_types.p4"

// LightPolicy: what is done with lightly congested flows of a tunnel (PEC-3): they are slowed down, or take the
// policy's next tunnel.
// Reads:  meta.tunnel.
// Writes: meta.two_threshold.treatment; meta.two_threshold.slow_interval and meta.two_threshold.slow_tolerance; meta.tunnel.
// When:   the flow is treated.
control LightPolicy(inout pe_meta_t meta) {
    action slow(flow_interval_t interval, flow_interval_t tolerance) {
        meta.two_threshold.treatment = FlowTreatment.SLOW;
        meta.two_threshold.slow_interval = interval;
        meta.two_threshold.slow_tolerance = tolerance;
    }
    action reroute(tunnel_t next_tunnel) {
        meta.two_threshold.treatment = FlowTreatment.REROUTE;
        meta.tunnel = next_tunnel;
    }
    action leave() { }

    PLACED(light_policy) @name(".light_policy")
    table light_policy {
        key = {
            meta.tunnel: exact @name("tunnel");
        }
        actions = {
            @tableonly slow;
            @tableonly reroute;
            @defaultonly leave;
        }
        const default_action = leave;
        size = TUNNEL_TABLE_SIZE;
    }

    apply {
        light_policy.apply();
    }
}

#endif
