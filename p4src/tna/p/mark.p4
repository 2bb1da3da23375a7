#ifndef FCN_TNA_P_MARK_P4
#define FCN_TNA_P_MARK_P4

#include "../../base/sizes.p4"
#include "../../fast_cnp/ecn_mark.p4"
#include "../p_metadata.p4"

// Mark: of the underlay header.
// Reads:  md.meta.base.level_mark.
// Writes: ECN field; counter ecn_marked.
// When:   behind CongestedFlow, which looks at the ECN field.
control Mark(inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    @name(".ecn_marked")
    Counter<bit<32>, Ecn>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) ecn_marked;

    EcnMark() ecn_mark;

    apply {
        if (hdr.p.outer_ipv6.isValid() && md.meta.base.level_mark != Ecn.NOT_ECT) {
            ecn_mark.apply(hdr.p.outer_ipv6.ecn, md.meta.base.level_mark, md.marked);
        }
        if (md.marked) {
            ecn_marked.count(md.meta.base.level_mark);
        }
    }
}

#endif
