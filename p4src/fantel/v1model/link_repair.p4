#ifndef FCN_LINK_REPAIR_P4
#define FCN_LINK_REPAIR_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/metadata.p4"
#include "../../base/v1model/counters.p4"
#include "../links/alternate.p4"
#include "../links/bfd_headers.p4"
#include "../links/link_types.p4"
#include "link_registers.p4"

// LinkRepair: fast reroute (RFC 5714). A packet whose next hop is dead takes another that makes no loop, if any (FAN-4).
// Reads:  meta.base.egress_port, underlay destination, state of the link; whether it is watched.
// Writes: hdr.notice: the ingress PE is to hear of it; Ethernet addresses and meta.base.egress_port, or drop_reason.
// When:   Underlay was applied to a packet.
control LinkRepair(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    Alternate() alternate;

    apply {
        bit<3> state;
        bit<1> is_watched = 0;
        link_states.read(state, meta.base.egress_port);
        if (IS_DEAD(state) && meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason == PuntReason.NONE) {
            clock_runs.read(is_watched, 0);
        }
        if (is_watched == 1) {
            bool is_there;
            hdr.notice.setValid();
            hdr.notice.report = PathReport.FAILED;
            hdr.notice.port = meta.base.egress_port;
            alternate.apply(hdr.notice.port, hdr.outer_ipv6.dst, hdr.ethernet, meta.base, is_there);
            link_states.read(state, meta.base.egress_port);
            // Back to whoever sends here for this destination, it would go round until its hop limit.
            if (!is_there || IS_DEAD(state)
                    || (meta.base.egress_port == meta.base.ingress_port && meta.base.destination != Destination.END_SID)) {
                meta.base.drop_reason = DropReason.LINK_DOWN;
            } else {
                events.count(Event.REPAIRED);
            }
        }
    }
}

#endif
