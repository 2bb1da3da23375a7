#ifndef FCN_PATH_OF_QUEUE_P4
#define FCN_PATH_OF_QUEUE_P4

#include "../../links/bfd_headers.p4"
#include "../../links/link_types.p4"
#include "../link_registers.p4"

// PathOfQueue: a path is congested until no packet has left a congested queue for long enough (FAN-6).
// Reads:  notice.port and relief; last_congested; time now in microseconds.
// Writes: notice.report.
// When:   the clock comes to the queue of a path.
control PathOfQueue(in bit<48> now, inout notice_h notice) {
    apply {
        bit<48> since;
        last_congested.read(since, notice.port);
        notice.report = PathReport.RELIEVED;
        // A packet may be newer than now.
        bit<48> calm = now - since;
        if (since != 0 && (calm[47:47] == 1 || calm < (bit<48>)notice.relief)) {
            notice.report = PathReport.CONGESTED;
        }
    }
}

#endif
