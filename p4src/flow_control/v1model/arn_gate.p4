#ifndef FCN_ARN_GATE_P4
#define FCN_ARN_GATE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"
#include "../flow_control_types.p4"

// ArnGate: when the upstream neighbour hears about some traffic: that its queue is congested, at once and again every
// meta.refresh; that this is over, once (FCN-15 for ARN).
// Reads:  meta.upstream_port, meta.traffic, meta.queue, meta.budget, meta.refresh, the time now in microseconds; lasts: how
//         long the congestion goes on, 0 where that is unknown: where it is shorter than meta.refresh, but goes on after all,
//         it is said again at half of that time.
// Writes: meta.arn_type; the time of the last ARN. Zero in a cell: the neighbour was told nothing, or that it is over.
// When:   packets of the underlay in egress whose upstream neighbour is known.
// Traffic that shares a cell with other traffic is told less: then the time ends its hold.
control ArnGate(
        in bit<48> now, in microseconds_t lasts, inout flow_control_meta_t meta, inout bool held_back) {
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_told;

    apply {
        bit<16> cell;
        bit<32> last;
        bit<32> now_low = now[31:0] | 1;
        hash(cell, HashAlgorithm.crc16, 16w0,
             { meta.upstream_port, meta.traffic.ip_version, meta.traffic.label, meta.traffic.protocol, meta.traffic.src,
                   meta.traffic.dst, meta.traffic.src_port, meta.traffic.dst_port, meta.traffic.priority },
             32w0x10000);
        last_told.read(last, cell);
        if (meta.queue == QueueState.CONGESTED || meta.budget == QueueState.CONGESTED) {
            if (last == 0 || now_low - last >= meta.refresh) {
                meta.arn_type = ArnType.DETECTED;
                if (lasts != 0 && (lasts >> 1) < meta.refresh) {
                    now_low = (now_low - (meta.refresh - (lasts >> 1))) | 1;
                }
                last_told.write(cell, now_low);
            } else {
                held_back = true;
            }
        } else if (last != 0 && meta.queue == QueueState.RELIEVED
                && meta.budget == QueueState.RELIEVED) {
            meta.arn_type = ArnType.ELIMINATED;
            last_told.write(cell, 0);
        }
    }
}

#endif
