#ifndef FCN_PE_TELL_SENDER_P4
#define FCN_PE_TELL_SENDER_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/flow_gate.p4"

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

#endif
