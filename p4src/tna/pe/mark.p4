#ifndef FCN_TNA_PE_MARK_P4
#define FCN_TNA_PE_MARK_P4

#include "../../base/sizes.p4"
#include "../../fast_cnp/ecn_mark.p4"
#include "../pe_metadata.p4"

// Mark: of the outermost IP header.
// Reads:  md.meta.base.level_mark; bridge header: notifications are not marked.
// Writes: ECN field; counter ecn_marked.
// When:   behind Leave.
control Mark(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    @name(".ecn_marked")
    Counter<bit<32>, Ecn>(REASON_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) ecn_marked;

    EcnMark() ecn_mark_ipv4;
    EcnMark() ecn_mark_ipv6;

    apply {
        if (md.meta.base.level_mark != Ecn.NOT_ECT && hdr.bridge.pass != PassType.NOTIFICATION) {
            if (hdr.pe.outer_ipv6.isValid()) {
                ecn_mark_ipv6.apply(hdr.pe.outer_ipv6.ecn, md.meta.base.level_mark, md.marked);
            } else if (hdr.pe.ipv4.isValid()) {
                ecn_mark_ipv4.apply(hdr.pe.ipv4.ecn, md.meta.base.level_mark, md.marked);
            }
            if (md.marked) {
                ecn_marked.count(md.meta.base.level_mark);
            }
        }
    }
}

#endif
