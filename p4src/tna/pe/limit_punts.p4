#ifndef FCN_TNA_PE_LIMIT_PUNTS_P4
#define FCN_TNA_PE_LIMIT_PUNTS_P4

#include "../../base/rate_limits.p4"
#include "../../base/sizes.p4"
#include "../pe_metadata.p4"

// LimitPunts: what the controller gets of each VRF is bounded.
// Reads:  md.meta.base.punt_reason, drop_reason, vrf; md.meta.answered; md.report_color.
// Writes: md.punt_color; counter vrf_refused.
// When:   behind Report.
control LimitPunts(inout tna_pe_meta_t md) {
    @name(".vrf_refused")
    Counter<bit<32>, vrf_cell_t>(VRF_CELLS, CounterType_t.PACKETS_AND_BYTES) vrf_refused;

    PuntLimit() punt_limit;

    apply {
        if (md.meta.base.drop_reason == DropReason.NONE) {
            if (md.meta.base.punt_reason != PuntReason.NONE || md.meta.answered) {
                punt_limit.apply(md.meta.base.vrf, md.punt_color);
            }
        }
        if (md.punt_color != GREEN || md.report_color != GREEN) {
            vrf_refused.count(VRF_CELL(md.meta.base.vrf));
        }
    }
}

#endif
