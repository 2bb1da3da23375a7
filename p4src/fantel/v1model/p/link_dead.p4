#ifndef FCN_FANTEL_P_LINK_DEAD_P4
#define FCN_FANTEL_P_LINK_DEAD_P4

#include "../../../base/v1model/p.p4"

// LinkDead: what has no next hop is looked at once more in egress, for the message about it.
// Writes: standard_metadata.egress_spec.
// When:   a packet is dropped.
control LinkDead(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.drop_reason == DropReason.LINK_DOWN && hdr.notice.isValid()) {
            standard_metadata.egress_spec = RECIRC_PORT;
        }
    }
}

#endif
