#ifndef FCN_TNA_PE_NAMED_FLOW_P4
#define FCN_TNA_PE_NAMED_FLOW_P4

#include "../pe_metadata.p4"

// NamedFlow: the label of the flow that a notification, or a copy made here, is about.
// Reads:  md.meta.base.copy_kind; Fast CNP and copy header.
// Writes: md.meta.notify_label.
// When:   before UnderlayLookup.
control NamedFlow(in pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    action take_word_label() {
        md.meta.notify_label = hdr.pe.fast_cnp.word[31:12];
    }
    action take_copy_label() {
        md.meta.notify_label = hdr.copy.label;
    }

    apply {
        if (md.meta.base.copy_kind != NotificationKind.NONE) {
            take_copy_label();
        } else {
            take_word_label();
        }
    }
}

#endif
