#ifndef FCN_P_CONGESTED_FLOW_P4
#define FCN_P_CONGESTED_FLOW_P4

#include "../../base/v1model/p.p4"
#include "../../fast_cnp/domain_mode.p4"

// CongestedFlow: a packet that its ingress PE, or its sender, is told of, and of what (FCN-8).
// Reads:  meta.base.level_notifies; underlay header. Marking leaves a packet ECN-capable.
// Writes: meta.base.mode; is_told: by a Fast CNP or a CNP; what PathCongested writes.
// When:   in egress, no copy.
control CongestedFlow(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata, out bool is_told) {
    DomainMode() domain_mode;
    PathCongested() path_congested;

    apply {
        is_told = false;
        if (meta.base.level_notifies == 1) {
            // An ECN-capable packet with an FCN label that is no notification itself.
            if (meta.base.notification_kind == NotificationKind.NONE
                    && hdr.outer_ipv6.isValid() && hdr.outer_ipv6.ecn != Ecn.NOT_ECT
                    && hdr.outer_ipv6.flow_label & FCN_LABEL_BIT != 0) {
                domain_mode.apply(meta.base);
                path_congested.apply(hdr, meta, standard_metadata);
                is_told = meta.base.mode.congestion_kind == NotificationKind.FAST_CNP
                    || meta.base.mode.congestion_kind == NotificationKind.END_CON_CNP;
            }
        }
    }
}

#endif
