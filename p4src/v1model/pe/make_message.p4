#ifndef FCN_PE_MAKE_MESSAGE_P4
#define FCN_PE_MAKE_MESSAGE_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/ingress_pe_notice.p4"
#include "../../fast_cnp/v1model/tell_ingress_pe.p4"

// MakeMessage: a copy becomes the message it was made for, or is taken as it is to become a CNP; it comes round once more.
// Reads:  meta.base.copy_kind.
// Writes: headers; the length of the frame.
// When:   on the egress copy of a packet.
control MakeMessage(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldCopy() hold_copy;
    HelloCopy() hello_copy;
    IngressPeNotice() ingress_pe_notice;

    apply {
        hold_copy.apply(hdr, meta, standard_metadata);
        hello_copy.apply(hdr, meta, standard_metadata);
        if (IS_FOR_INGRESS_PE(meta.base.copy_kind)) {
            ingress_pe_notice.apply(hdr, meta.base, meta.make_cnp);
            truncate((bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len));
        }
        recirculate_preserving_field_list(KEEP_COPY);
    }
}

#endif
