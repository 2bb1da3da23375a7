#ifndef FCN_TNA_P_TO_WAN_P4
#define FCN_TNA_P_TO_WAN_P4

#include "../../forwarding/srv6_end.p4"
#include "../../forwarding/underlay.p4"
#include "../../forwarding/wan_arrival.p4"
#include "../p_metadata.p4"

// ToWan: what is done with a packet; the next segment and the next hop.
// Writes: what its controls write; md.withheld: there is no next segment.
// When:   behind LookUp and Admit.
control ToWan(inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    Srv6End() srv6_end;
    WanArrival() wan_arrival;
    HoldMessage() hold_message;
    Underlay() underlay;

    apply {
        // Of a packet that does not go on, the next segment is of no use.
        if (md.meta.base.copy_kind == NotificationKind.NONE) {
            if (md.meta.base.destination == Destination.END_SID) {
                srv6_end.apply(hdr.p.outer_ipv6, hdr.p.srv6, md.withheld);
            }
            if (md.meta.base.drop_reason == DropReason.NONE) {
                wan_arrival.apply(hdr.p.outer_ipv6, md.meta.base);
            }
            hold_message.apply(md.meta.base);
        }
        if (md.meta.base.forward == Forward.UNDERLAY) {
            underlay.apply(hdr.p.outer_ipv6, hdr.p.ethernet, md.meta.base);
        }
    }
}

#endif
