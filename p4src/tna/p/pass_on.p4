#ifndef FCN_TNA_P_PASS_ON_P4
#define FCN_TNA_P_PASS_ON_P4

#include "../bridge.p4"
#include "../p_metadata.p4"

// PassOn: the egress is told whether a packet is a notification.
// Reads:  md.meta.base.copy_kind, notification_kind.
// Writes: what Bridge writes.
// When:   behind ToWan.
control PassOn(inout p_pass_headers_t hdr, in tna_p_meta_t md) {
    Bridge(PassType.NOTIFICATION) bridge_copy;
    Bridge(PassType.NOTIFICATION) bridge_notification;
    Bridge(PassType.TRAFFIC) bridge_traffic;

    apply {
        // Two conditions: of one of both, the compiler matches the first field only.
        if (md.meta.base.copy_kind != NotificationKind.NONE) {
            bridge_copy.apply(hdr.bridge, hdr.copy);
        } else if (md.meta.base.notification_kind != NotificationKind.NONE) {
            bridge_notification.apply(hdr.bridge, hdr.copy);
        } else {
            bridge_traffic.apply(hdr.bridge, hdr.copy);
        }
    }
}

#endif
