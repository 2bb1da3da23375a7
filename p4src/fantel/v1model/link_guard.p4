#ifndef FCN_LINK_GUARD_P4
#define FCN_LINK_GUARD_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/metadata.p4"
#include "../../base/types.p4"
#include "../../base/v1model/counters.p4"
#include "../links/alternate.p4"
#include "../links/bfd_headers.p4"
#include "../links/link_types.p4"
#include "link_registers.p4"

// LinkGuard: a packet whose next hop is dead takes another, where one leads to its destination without a loop (FAN-4).
// Reads:  meta.egress_port, underlay destination, state of the link; whether it is watched.
// Writes: order: the ingress PE is to hear of it; Ethernet addresses and meta.egress_port, or meta.drop_reason.
// When:   Underlay was applied to a packet.
control LinkGuard(in ipv6_addr_t dst, inout ethernet_h ethernet, inout base_meta_t meta, inout notice_h notice) {
    Alternate() alternate;

    apply {
        bit<3> state;
        bit<1> is_watched = 0;
        link_states.read(state, meta.egress_port);
        if (IS_DEAD(state) && meta.drop_reason == DropReason.NONE && meta.punt_reason == PuntReason.NONE) {
            clock_runs.read(is_watched, 0);
        }
        if (is_watched == 1) {
            bool is_there;
            notice.setValid();
            notice.report = PathReport.FAILED;
            notice.port = meta.egress_port;
            alternate.apply(notice.port, dst, ethernet, meta, is_there);
            link_states.read(state, meta.egress_port);
            // Back to whoever sends here for this destination, it would go round until its hop limit.
            if (!is_there || IS_DEAD(state)
                    || (meta.egress_port == meta.ingress_port && meta.destination != Destination.END_SID)) {
                meta.drop_reason = DropReason.LINK_DOWN;
            } else {
                events.count(Event.REPAIRED);
            }
        }
    }
}

#endif
