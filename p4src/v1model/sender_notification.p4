#ifndef FCN_SENDER_NOTIFICATION_P4
#define FCN_SENDER_NOTIFICATION_P4

// SenderNotification: a CNP for the sender FlowByLabel has found, within both rate limits (FCN-12,
// FCN-13, FCN-15).
// Reads:  meta.label_fault, meta.notify_label, meta.notify_interval, time now in microseconds.
// Writes: every header; meta.drop_reason when there is no sender to tell or a limit is reached.
// When:   meta.make_cnp.
control SenderNotification(inout pe_headers_t hdr, inout meta_t meta, in bit<48> now) {
    FlowGate() cnp_gate;
    NotificationLimit() notification_limit;
    CnpGenerator() cnp_generator;
    Icrc() icrc;

    apply {
        bool pass = false;
        if (meta.label_fault != DropReason.NONE) {
            meta.drop_reason = meta.label_fault;
        } else {
            cnp_gate.apply(meta.notify_label, meta.notify_interval, now, pass);
            if (!pass) {
                meta.drop_reason = DropReason.FLOW_INTERVAL;
            } else {
                notification_limit.apply(pass);
                if (!pass) {
                    meta.drop_reason = DropReason.NODE_RATE_LIMIT;
                } else {
                    cnp_generator.apply(hdr, meta);
                    icrc.apply(hdr);
                }
            }
        }
    }
}

#endif
