#ifndef FCN_CURVE_MARKING_P4
#define FCN_CURVE_MARKING_P4

#include "../marking_curve.p4"

// CurveMarking: a mark with a probability that grows with the queue (PEC-1).
// Reads:  egress port, queue and depth.
// Writes: meta.base.level_mark, where a random number says so.
// When:   a packet leaves by a wire, behind QueueLevel.
control CurveMarking(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    MarkingCurve() marking_curve;

    apply {
        Ecn codepoint = Ecn.NOT_ECT;
        probability_t probability = 0;
        marking_curve.apply(
            standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
            standard_metadata.deq_qdepth, codepoint, probability);
        if (codepoint != Ecn.NOT_ECT) {
            probability_t draw;
            random(draw, 0, 0xffff);
            if (draw <= probability) {
                meta.base.level_mark = codepoint;
            }
        }
    }
}

#endif
