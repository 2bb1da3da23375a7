#ifndef FCN_PE_LIMIT_PUNTS_P4
#define FCN_PE_LIMIT_PUNTS_P4

#include "../../base/v1model/pe.p4"
#include "../../base/rate_limits.p4"
#include "../../learning/v1model/report_neighbor.p4"

// LimitPunts: what the controller gets of each VRF is bounded; a host that was answered is reported to it.
// Reads:  meta.base.punt_reason, vrf; meta.answered.
// Writes: meta.base.drop_reason.
// When:   before a packet goes to the controller.
control LimitPunts(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PuntLimit() punt_limit;
    ReportNeighbor() report_neighbor;

    apply {
        if (meta.base.drop_reason == DropReason.NONE
                && (meta.base.punt_reason != PuntReason.NONE || meta.answered)) {
            color_t punt_color = GREEN;
            punt_limit.apply(meta.base.vrf, punt_color);
            if (punt_color != GREEN) {
                vrf_refused.count(VRF_CELL(meta.base.vrf));
                if (!meta.answered) {
                    meta.base.drop_reason = DropReason.PUNT_RATE_LIMIT;
                }
            } else if (meta.answered) {
                report_neighbor.apply(hdr, meta);
            }
        }
    }
}

#endif
