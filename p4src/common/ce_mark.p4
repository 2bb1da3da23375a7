#ifndef FCN_CE_MARK_P4
#define FCN_CE_MARK_P4

// CeMark: set CE on an ECN-capable packet (RFC 3168 section 5, SRF-3).
// Reads:  ECN field.
// Writes: ECN field; marked. The IPv4 checksum is the shell's.
// When:   the queue's level says so (meta.level_marks).
control CeMark(inout bit<2> ecn, out bool marked) {
    apply {
        marked = false;
        if (ecn != Ecn.NOT_ECT && ecn != Ecn.CE) {
            ecn = Ecn.CE;
            marked = true;
        }
    }
}

#endif
