#ifndef FCN_P_TO_WAN_P4
#define FCN_P_TO_WAN_P4

#include "../../base/v1model/p.p4"
#include "../../forwarding/srv6_end.p4"
#include "../../forwarding/underlay.p4"

// ToWan: the next segment and the next hop.
// Writes: what Srv6End, Underlay and the modes' repair write.
// When:   behind LookUp and SecondPass.
control ToWan(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    Srv6End() srv6_end;
    HoldParse() hold_parse;
    Underlay() underlay;
    LinkRepair() link_repair;

    apply {
        if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE) {
            if (meta.base.destination == Destination.END_SID) {
                srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
            }
            if (meta.base.drop_reason == DropReason.NONE) {
                hold_parse.apply(hdr, meta, standard_metadata);
                underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta.base);
                link_repair.apply(hdr, meta, standard_metadata);
            }
        }
    }
}

#endif
