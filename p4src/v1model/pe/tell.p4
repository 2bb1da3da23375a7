#ifndef FCN_PE_TELL_P4
#define FCN_PE_TELL_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/copy_for_sender.p4"
#include "../../fast_cnp/v1model/tell_ingress_pe.p4"
#include "tell_sender.p4"

// Tell: a congested queue, or what a mode knows, is said to the sender, or to the PE that can tell him.
// Reads:  meta.base.level_notifies, mode; meta.tell_interval.
// Writes: meta.base.tells, copy_kind, copy_label.
// When:   in egress, no copy; there may be something to tell.
control Tell(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    TellSender() tell_sender;
    PathCounted() path_counted;
    TellIngressPe() tell_ingress_pe;
    CopyForSender() copy_for_sender;

    apply {
        bool level_tells = meta.base.level_notifies == 1
            && meta.base.mode.congestion_kind != NotificationKind.NONE;
        if (level_tells || meta.tell_interval != 0) {
            tell_sender.apply(hdr, meta, standard_metadata, level_tells);
            path_counted.apply(hdr, meta, standard_metadata);
            // FCN-18: the tunnel ended here, so the ingress PE is another node.
            if (level_tells && hdr.ingress_pe.isValid() && !hdr.outer_ipv6.isValid()) {
                tell_ingress_pe.apply(
                    hdr.roce.bth, hdr.ingress_pe, standard_metadata.egress_global_timestamp, meta.base);
            }
            if (meta.base.tells != NotificationKind.NONE) {
                copy_for_sender.apply(meta.base);
            }
        }
    }
}

#endif
