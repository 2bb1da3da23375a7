#ifndef FCN_FLOW_POLICER_P4
#define FCN_FLOW_POLICER_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/sizes.p4"
#include "../two_threshold_types.p4"

// FlowPolicer: a meter of each flow that is slowed down; packets beyond its rate are dropped (PEC-3). It is the
// virtual scheduling algorithm of ITU-T I.371 annex A. A register in place of a P4 meter, because cells of a meter
// can only be written one by one: here the rate comes with the tunnel's entry and holds for every label at once.
// Reads:  the flow's cell; time between packets, and how much earlier one may come, both in 1/65536 microsecond;
//         time now in microseconds.
// Writes: meta.drop_reason.
// When:   the flow is slowed down.
control FlowPolicer(
        in bit<16> index, in flow_interval_t interval, in flow_interval_t tolerance, in bit<48> now,
        inout base_meta_t meta) {
    // When the next packet is due at the flow's rate, in 1/65536 microsecond
    register<bit<64>, bit<16>>(LIGHT_CONGESTION_CELLS) due;

    apply {
        bit<64> next;
        bit<64> time = now ++ 16w0;
        due.read(next, index);
        if (next < time) {
            next = time;
        }
        if (next - time > (bit<64>)tolerance) {
            meta.drop_reason = DropReason.LIGHT_CONGESTION_RATE;
        } else {
            due.write(index, next + (bit<64>)interval);
        }
    }
}

#endif
