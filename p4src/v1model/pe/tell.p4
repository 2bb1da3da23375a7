#ifndef FCN_PE_TELL_P4
#define FCN_PE_TELL_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/copy_for_sender.p4"
#include "../../fast_cnp/v1model/flow_gate.p4"
#include "../../fast_cnp/v1model/tell_ingress_pe.p4"

// TellSender: this node is the ingress PE of the flow, so it sends the CNP itself (FCN-12).
// Reads:  meta.flow_label, customer_ecn; level_tells; meta.base.level_interval, meta.tell_interval: the shortest counts.
// Writes: meta.base.tells, copy_label, now; meta.copy_insists.
// When:   there is a reason to tell the sender.
control TellSender(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata, in bool level_tells) {
    FlowGate() own_congestion_gate;

    apply {
        if (meta.base.copy_kind == NotificationKind.NONE && meta.flow_label_assigned
                && meta.customer_ecn != Ecn.NOT_ECT) {
            bool pass = false;
            microseconds_t interval = meta.base.level_interval;
            if (meta.tell_interval != 0) {
                meta.copy_insists = 1;
                if (!level_tells || meta.tell_interval < interval) {
                    interval = meta.tell_interval;
                }
            }
            own_congestion_gate.apply(
                meta.flow_label, interval, standard_metadata.egress_global_timestamp, pass);
            if (pass) {
                notifications_triggered.count(NotificationKind.CNP);
                meta.base.tells = NotificationKind.CNP;
                meta.base.copy_label = meta.flow_label;
                meta.base.now = standard_metadata.egress_global_timestamp;
            } else if (!meta.base.stays) {
                flow_interval_suppressed.count(NotificationKind.CNP);
            }
        }
    }
}

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
