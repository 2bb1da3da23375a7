#ifndef FCN_CURVE_MARK_P4
#define FCN_CURVE_MARK_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/types.p4"
#include "../marking_curve.p4"
#include "marking_draw.p4"

// CurveMark: a mark with a probability that grows with the queue (PEC-1).
// Reads:  egress port, queue and depth.
// Writes: meta.level_mark, where the draw says so.
// When:   every packet that leaves, behind QueueLevel.
control CurveMark(in standard_metadata_t standard_metadata, inout base_meta_t meta) {
    MarkingCurve() marking_curve;
    MarkingDraw() marking_draw;

    apply {
        Ecn codepoint = Ecn.NOT_ECT;
        probability_t probability = 0;
        marking_curve.apply(
            standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
            standard_metadata.deq_qdepth, codepoint, probability);
        if (codepoint != Ecn.NOT_ECT) {
            marking_draw.apply(codepoint, probability, meta);
        }
    }
}

#endif
