#ifndef FCN_PE_MARK_P4
#define FCN_PE_MARK_P4

#include "../../base/v1model/ipv4_checksum.p4"
#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/ecn_mark.p4"

// Mark: of the outermost IP header.
// Writes: ECN field, IPv4 checksum; counter ecn_marked.
// When:   the queue's level, or a draw, has a mark.
control Mark(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    EcnMark() ecn_mark_outer;
    EcnMark() ecn_mark_ipv4;
    EcnMark() ecn_mark_ipv6;
    Ipv4Checksum() ipv4_checksum;

    apply {
        bool marked = false;
        if (hdr.outer_ipv6.isValid()) {
            ecn_mark_outer.apply(hdr.outer_ipv6.ecn, meta.base.level_mark, marked);
        } else if (hdr.ipv4.isValid()) {
            bit<2> ecn = hdr.ipv4.ecn;
            ecn_mark_ipv4.apply(hdr.ipv4.ecn, meta.base.level_mark, marked);
            if (marked) {
                ipv4_checksum.apply(hdr.ipv4.checksum, ecn, hdr.ipv4.ecn);
            }
        } else if (hdr.ipv6.isValid()) {
            ecn_mark_ipv6.apply(hdr.ipv6.ecn, meta.base.level_mark, marked);
        }
        if (marked) {
            ecn_marked.count(meta.base.level_mark);
        }
    }
}

#endif
