#ifndef FCN_TNA_PE_SETTINGS_P4
#define FCN_TNA_PE_SETTINGS_P4

#include "../../fast_cnp/cnp_profile.p4"
#include "../../fast_cnp/domain_mode.p4"
#include "../../learning/flow_learning.p4"
#include "../pe_metadata.p4"

// Settings: the time, and what is the same for every packet: the domain's mode, how CNPs look, whether flows are learned.
// Writes: md.meta.base.now; what its controls write.
// When:   first.
control Settings(
        inout pe_pass_headers_t hdr,
        inout tna_pe_meta_t md,
        in ingress_intrinsic_metadata_from_parser_t ig_prsr_md) {
    DomainMode() domain_mode;
    CnpProfile() cnp_profile;
    FlowLearning() flow_learning;

    action take_time() {
        md.meta.base.now = TICKS(ig_prsr_md.global_tstamp);
    }

    apply {
        take_time();
        domain_mode.apply(md.meta.base);
        cnp_profile.apply(hdr.pe.cnp_profile);
        flow_learning.apply(md.meta);
    }
}

#endif
