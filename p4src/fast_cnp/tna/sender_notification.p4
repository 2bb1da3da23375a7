#ifndef FCN_SENDER_NOTIFICATION_P4
#define FCN_SENDER_NOTIFICATION_P4

#include "../../base/rate_limits.p4"
#include "../../base/sizes.p4"
#include "../../tna/pe_metadata.p4"
#include "../cnp_generator.p4"
#include "flow_gate.p4"
#include "icrc.p4"

// SenderNotification: a CNP for the sender FlowByLabel has found, within both rate limits (FCN-12,
// FCN-13, FCN-15). The CNP is made and routed in the stages in which the limits are looked up.
// Reads:  meta.make_cnp, meta.label_fault, meta.notify_label, hdr.cnp_profile.min_interval, md.meta.base.now.
// Writes: every header; md.gate_passed and md.notification_color, by which the top-level control lets the CNP go.
// When:   every packet behind Arrival; it concerns those with meta.make_cnp.
control SenderNotification(inout pe_headers_t hdr, inout tna_pe_meta_t md) {
    CnpGenerator() cnp_generator;
    Icrc() icrc;
    FlowGate(FLOW_GATE_SIZE) cnp_gate;
    NotificationLimit() notification_limit;
    past_interval_t interval;

    action find_interval() {
        SET_INTERVAL(interval, md.meta.base.now, hdr.cnp_profile.min_interval)
    }

    apply {
        icrc.apply(hdr, md.meta);
        cnp_generator.apply(hdr, md.meta);
        find_interval();
        if (md.meta.make_cnp && md.meta.label_fault == DropReason.NONE) {
            cnp_gate.apply(false, md.meta.notify_label[15:0], interval, md.meta.base.now, md.gate_passed);
        }
        if (md.meta.make_cnp && md.gate_passed == 1) {
            notification_limit.apply(md.notification_color);
        }
    }
}

#endif
