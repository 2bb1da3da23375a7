#ifndef FCN_TWO_THRESHOLD_PE_LIGHT_MODE_P4
#define FCN_TWO_THRESHOLD_PE_LIGHT_MODE_P4

#include "../../../base/v1model/pe.p4"
#include "../../light_congestion.p4"

// LightMode
// Writes: meta.two_threshold.hold.
// When:   every packet, before a control that reads it.
control LightMode(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    LightCongestion() light_congestion;

    apply {
        light_congestion.apply(meta);
    }
}

#endif
