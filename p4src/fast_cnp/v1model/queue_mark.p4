#ifndef FCN_QUEUE_MARK_P4
#define FCN_QUEUE_MARK_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/types.p4"
#include "../queue_level.p4"
#include "../../flow_control/flow_control_types.p4"
#include "../../flow_control/v1model/hold.p4"
#include "../../two_threshold/marking_curve.p4"
#include "../../two_threshold/v1model/marking_draw.p4"

// QueueMark: what the queue that the packet came from says: a level, and by level or by curve a mark (FCN-10, PEC-1).
// Reads:  egress port, queue and depth.
// Writes: meta.level, meta.level_mark, meta.level_notifies, meta.level_interval; queue_depths, while flow control is
//         on.
// When:   every packet that leaves.
control QueueMark(
        in standard_metadata_t standard_metadata, in FlowControl flow_control, inout base_meta_t meta) {
    QueueLevel() queue_level;
    MarkingCurve() marking_curve;
    MarkingDraw() marking_draw;

    apply {
        if (flow_control != FlowControl.OFF) {
            queue_depths.write(standard_metadata.egress_port, standard_metadata.deq_qdepth);
        }
        queue_level.apply(
            standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
            standard_metadata.deq_qdepth, meta);
        Ecn curve_mark = Ecn.NOT_ECT;
        probability_t curve_probability = 0;
        marking_curve.apply(
            standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
            standard_metadata.deq_qdepth, curve_mark, curve_probability);
        if (curve_mark != Ecn.NOT_ECT) {
            marking_draw.apply(curve_mark, curve_probability, meta);
        }
    }
}

#endif
