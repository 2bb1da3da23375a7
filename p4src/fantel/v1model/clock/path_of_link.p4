#ifndef FCN_PATH_OF_LINK_P4
#define FCN_PATH_OF_LINK_P4

#include "../../links/bfd_headers.p4"
#include "../../links/link_types.p4"
#include "../link_registers.p4"

// PathOfLink: a path has failed when the link has by which it leaves (FAN-4).
// Reads:  notice.port; link_states.
// Writes: notice.report; is_known. Of a link that never was up nobody knows whether it is well.
// When:   the clock comes to the link of a path.
control PathOfLink(inout notice_h notice, inout bool is_known) {
    apply {
        bit<3> state;
        link_states.read(state, notice.port);
        if (IS_DEAD(state) || state == (bit<3>)LinkState.UP) {
            is_known = true;
            notice.report = PathReport.WELL;
            if (IS_DEAD(state)) {
                notice.report = PathReport.FAILED;
            }
        }
    }
}

#endif
