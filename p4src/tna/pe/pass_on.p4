#ifndef FCN_TNA_PE_PASS_ON_P4
#define FCN_TNA_PE_PASS_ON_P4

#include "../bridge.p4"
#include "../pe_metadata.p4"

// PassOn: the egress is told whether a packet is a notification, or of a flow whose sender this node can tell (FCN-12).
// Reads:  md.meta.make_cnp, flow_label_assigned, customer_ecn, base.mode.
// Writes: what Bridge writes.
// When:   behind Rewrite.
control PassOn(inout pe_pass_headers_t hdr, in tna_pe_meta_t md) {
    Bridge(PassType.NOTIFICATION) bridge_notification;
    Bridge(PassType.LABELLED) bridge_labelled;
    Bridge(PassType.TRAFFIC) bridge_traffic;

    apply {
        if (md.meta.make_cnp) {
            bridge_notification.apply(hdr.bridge, hdr.copy);
        } else if (md.meta.flow_label_assigned
                   && md.meta.base.mode.congestion_kind != NotificationKind.NONE
                   && md.meta.customer_ecn != Ecn.NOT_ECT) {
            bridge_labelled.apply(hdr.bridge, hdr.copy);
        } else {
            bridge_traffic.apply(hdr.bridge, hdr.copy);
        }
    }
}

#endif
