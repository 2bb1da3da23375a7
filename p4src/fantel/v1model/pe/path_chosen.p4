#ifndef FCN_FANTEL_PE_PATH_CHOSEN_P4
#define FCN_FANTEL_PE_PATH_CHOSEN_P4

#include "../../../base/v1model/pe.p4"
#include "../choose_path.p4"

// PathChosen
// Writes: meta.tunnel, that of a path of the policy.
// When:   a packet is about to enter a tunnel.
control PathChosen(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    ChoosePath() choose_path;

    apply {
        if (IS_POLICY(meta.tunnel)) {
            choose_path.apply(hdr, meta, meta.base.now);
        }
    }
}

#endif
