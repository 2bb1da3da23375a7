#ifndef FCN_SENDER_NOTIFICATION_P4
#define FCN_SENDER_NOTIFICATION_P4

// SenderNotification: from a flow label to a CNP for the flow's sender (FCN-12, FCN-13). The CNP is
// made and routed while the rate limits are still asked; see SenderLimits.
// Reads:  meta.notify_label.
// Writes: every header; meta.make_cnp, meta.forward (VRF), meta.vrf; meta.drop_reason when there is
//         no CNP to send.
// When:   meta.notify.
control SenderNotification(inout pe_headers_t hdr, inout meta_t meta) {
    FlowByLabel() flow_by_label;
    CnpGenerator() cnp_generator;
    Icrc() icrc;

    apply {
        if (meta.notify_enabled == 0) {
            meta.drop_reason = DropReason.FEATURE_DISABLED;
        } else {
            flow_by_label.apply(hdr, meta);
        }
        if (meta.drop_reason == DropReason.NONE) {
            cnp_generator.apply(hdr, meta);
            icrc.apply(hdr, meta);
        }
    }
}

// SenderLimits: both rate limits of a CNP (FCN-15).
// Reads:  meta.notify_label, meta.notify_interval.
// Writes: limit, the limit that holds the CNP back, NONE when it may go.
// When:   meta.make_cnp.
control SenderLimits(in meta_t meta, in bit<48> now, out DropReason limit) {
    FlowGate() cnp_gate;
    NotificationLimit() notification_limit;

    apply {
        bool pass = false;
        limit = DropReason.NONE;
        cnp_gate.apply(meta.notify_label, meta.notify_interval, now, pass);
        if (!pass) {
            limit = DropReason.FLOW_INTERVAL;
        } else {
            notification_limit.apply(pass);
            if (!pass) {
                limit = DropReason.NODE_RATE_LIMIT;
            }
        }
    }
}

#endif
