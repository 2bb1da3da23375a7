#ifndef FCN_FANTEL_P_PATH_TELLS_P4
#define FCN_FANTEL_P_PATH_TELLS_P4

#include "../../../base/v1model/p.p4"
#include "../path_notice.p4"

// PathTells: of the packet's path there is something to say.
// Reads:  hdr.notice.
// Writes: meta.base.tells, within the node's limit. What came for this only, and has no next hop, is dropped.
// When:   in egress, no copy.
control PathTells(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    PathNotice() path_notice;

    apply {
        if (hdr.notice.isValid()) {
            if (meta.base.notification_kind == NotificationKind.NONE) {
                path_notice.apply(
                    hdr.outer_ipv6, hdr.srv6.srh, standard_metadata.egress_global_timestamp, hdr.notice);
                if (hdr.notice.is_wanted == 1) {
                    meta.base.tells = NotificationKind.FANTEL;
                }
            }
            if (standard_metadata.egress_port == RECIRC_PORT) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}

#endif
