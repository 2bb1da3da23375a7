#ifndef FCN_SENDER_NOTIFICATION_P4
#define FCN_SENDER_NOTIFICATION_P4

// SenderNotification: from a flow label to a CNP for the flow's sender, within both rate limits
// (FCN-12, FCN-13, FCN-15).
// Reads:  meta.notify_label.
// Writes: every header; meta.make_cnp, meta.forward (VRF), meta.vrf; meta.drop_reason when there is
//         no CNP to send.
// When:   meta.notify.
control SenderNotification(inout pe_headers_t hdr, inout meta_t meta, in bit<48> now) {
    FlowByLabel() flow_by_label;
    FlowGate() cnp_gate;
    NotificationLimit() notification_limit;
    CnpGenerator() cnp_generator;
    Icrc() icrc;

    apply {
        bool pass = false;
        if (meta.notify_enabled == 0) {
            meta.drop_reason = DropReason.FEATURE_DISABLED;
        } else {
            flow_by_label.apply(hdr, meta);
        }
        if (meta.drop_reason == DropReason.NONE) {
            cnp_gate.apply(meta.notify_label, meta.notify_interval, now, pass);
            if (!pass) {
                meta.drop_reason = DropReason.FLOW_INTERVAL;
            } else {
                notification_limit.apply(pass);
                if (!pass) {
                    meta.drop_reason = DropReason.NODE_RATE_LIMIT;
                }
            }
        }
        if (meta.drop_reason == DropReason.NONE) {
            cnp_generator.apply(hdr, meta);
            icrc.apply(hdr);
        }
    }
}

#endif
