#ifndef FCN_PE_TO_WAN_P4
#define FCN_PE_TO_WAN_P4

#include "../../base/v1model/pe.p4"
#include "../../forwarding/srv6_end.p4"
#include "../../forwarding/underlay.p4"

// ToWan: the next segment and the next hop of a packet of the underlay.
// Writes: what Srv6End, Underlay and the modes' repair write.
// When:   meta.base.forward == Forward.UNDERLAY.
control ToWan(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    Srv6End() srv6_end;
    Underlay() underlay;
    LinkRepair() link_repair;

    apply {
        if (meta.base.destination == Destination.END_SID) {
            srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
        }
        if (meta.base.drop_reason == DropReason.NONE) {
            underlay.apply(hdr.outer_ipv6, hdr.ethernet, meta.base);
            link_repair.apply(hdr, meta, standard_metadata);
        }
    }
}

#endif
