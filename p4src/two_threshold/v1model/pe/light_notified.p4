#ifndef FCN_TWO_THRESHOLD_PE_LIGHT_NOTIFIED_P4
#define FCN_TWO_THRESHOLD_PE_LIGHT_NOTIFIED_P4

#include "../../../base/v1model/pe.p4"
#include "../light_notification.p4"

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

#endif
