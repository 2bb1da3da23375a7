// The two-threshold mode at a PE (PEC-1, PEC-3): its steps in the order in which pe.p4 takes them.
#ifndef FCN_TWO_THRESHOLD_PE_P4
#define FCN_TWO_THRESHOLD_PE_P4

#include "../../base/v1model/pe.p4"
#include "../light_congestion.p4"
#include "../two_threshold_types.p4"
#include "curve_marking.p4"
#include "light_notification.p4"
#include "light_treatment.p4"

// LightMode
// Writes: meta.two_threshold.hold.
// When:   every packet, before a control that reads it.
control LightMode(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    LightCongestion() light_congestion;

    apply {
        light_congestion.apply(meta);
    }
}

// LightNotified: what says light congestion ends here, and no sender hears of it (PEC-3).
// Reads:  meta.make_cnp; what LightNotification reads.
// Writes: meta.make_cnp, meta.base.is_done; what LightNotification writes.
// When:   behind Arrival.
control LightNotified(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    LightNotification() light_notification;

    apply {
        if (meta.make_cnp && meta.two_threshold.hold != 0) {
            light_notification.apply(hdr.fast_cnp, meta, meta.base.now);
            if (meta.two_threshold.is_notified) {
                events.count(Event.LIGHT_CONGESTION);
                meta.base.is_done = !meta.make_cnp;
            }
            if (!meta.make_cnp && meta.packet_class == PacketClass.NOTIFICATION) {
                notifications_received.count(meta.base.notification_kind);
            }
        }
    }
}

// LightFlow: lightly congested flows are slowed down or take another tunnel (PEC-3).
// Reads:  meta.flow_label_assigned, meta.two_threshold.hold.
// Writes: what LightTreatment writes.
// When:   a packet has its flow label and its tunnel, before TunnelEncap.
control LightFlow(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    LightTreatment() light_treatment;

    apply {
        if (meta.flow_label_assigned && meta.two_threshold.hold != 0) {
            light_treatment.apply(meta, meta.base.now);
            if (meta.two_threshold.treatment != FlowTreatment.NONE) {
                events.count(meta.event);
            }
        }
    }
}

#endif
