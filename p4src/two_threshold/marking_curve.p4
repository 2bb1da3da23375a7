#ifndef FCN_MARKING_CURVE_P4
#define FCN_MARKING_CURVE_P4

#include "../base/sizes.p4"
#include "../base/types.p4"

// MarkingCurve: how likely a packet of a queue of this depth is marked, and with which codepoint (PEC-1). The
// controller compiles the curves to steps.
// Reads:  egress port, queue, depth (in the target's unit: packets on BMv2, cells on Tofino).
// Writes: codepoint (Not-ECT: no packet is marked), probability.
// When:   every packet in egress. A queue without entries marks nothing here.
control MarkingCurve(
        in port_t egress_port, in bit<5> queue_id, in bit<19> queue_depth, inout Ecn codepoint,
        inout probability_t probability) {
    action set_curve(Ecn set_codepoint, probability_t set_probability) {
        codepoint = set_codepoint;
        probability = set_probability;
    }
    action no_curve() { }

    PLACED(marking_curve) @name(".marking_curve")
    table marking_curve {
        key = {
            egress_port: exact @name("egress_port");
            queue_id: exact @name("queue_id");
            queue_depth: range @name("queue_depth");
        }
        actions = {
            @tableonly set_curve;
            @defaultonly no_curve;
        }
        const default_action = no_curve;
        size = MARKING_CURVE_TABLE_SIZE;
    }

    apply {
        marking_curve.apply();
    }
}

#endif
