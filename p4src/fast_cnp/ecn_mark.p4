#ifndef FCN_ECN_MARK_P4
#define FCN_ECN_MARK_P4

#include "../base/types.p4"

// EcnMark: sets a codepoint on an ECN-capable packet (RFC 3168 section 5, SRF-3): CE on ECT(0) and ECT(1), ECT(1)
// on ECT(0) only (PEC-1). CE stays CE.
// Reads:  ECN field; the codepoint to set.
// Writes: ECN field; marked. An IPv4 checksum is the top-level control's.
// When:   the queue's level has a mark (meta.level_mark is not Not-ECT).
control EcnMark(inout bit<2> ecn, in Ecn mark, inout bool marked) {
    // Constants: a chip cannot copy one field to two places that are aligned differently.
    action set_ce() {
        ecn = Ecn.CE;
        marked = true;
    }
    action set_ect1() {
        ecn = Ecn.ECT1;
        marked = true;
    }

    apply {
        if (ecn != Ecn.NOT_ECT && ecn != Ecn.CE) {
            if (mark == Ecn.CE) {
                set_ce();
            } else if (ecn == Ecn.ECT0) {
                set_ect1();
            }
        }
    }
}

#endif
