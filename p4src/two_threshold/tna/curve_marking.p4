#ifndef FCN_TNA_CURVE_MARKING_P4
#define FCN_TNA_CURVE_MARKING_P4

#include "../../base/metadata.p4"
#include "../marking_curve.p4"

// CurveMarking: a mark with a probability that grows with the queue (PEC-1).
// Reads:  egress port, queue and depth.
// Writes: meta.level_mark, where a random number says so.
// When:   a packet leaves by a wire, behind QueueLevel.
control CurveMarking(in egress_intrinsic_metadata_t eg_intr_md, inout base_meta_t meta) {
    Random<probability_t>() random;
    MarkingCurve() marking_curve;
    Ecn codepoint;
    probability_t probability;
    probability_t draw;
    probability_t above;

    action take_random() {
        draw = random.get();
    }
    // The chip compares two fields by a difference only.
    action compare() {
        above = draw |-| probability;
    }

    apply {
        codepoint = Ecn.NOT_ECT;
        probability = 0;
        take_random();
        marking_curve.apply(
            eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth, codepoint, probability);
        compare();
        if (above == 0) {
            if (codepoint == Ecn.CE) {
                meta.level_mark = Ecn.CE;
            } else if (codepoint == Ecn.ECT1) {
                meta.level_mark = Ecn.ECT1;
            }
        }
    }
}

#endif
