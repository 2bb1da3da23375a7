#ifndef FCN_MARKING_DRAW_P4
#define FCN_MARKING_DRAW_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/types.p4"

// MarkingDraw: decides by a random number whether the packet is marked (PEC-1).
// Reads:  codepoint and probability of MarkingCurve.
// Writes: meta.level_mark.
// When:   MarkingCurve has found a codepoint.
control MarkingDraw(in Ecn codepoint, in probability_t probability, inout base_meta_t meta) {
    apply {
        probability_t draw;
        random(draw, 0, 0xffff);
        if (draw <= probability) {
            meta.level_mark = codepoint;
        }
    }
}

#endif
