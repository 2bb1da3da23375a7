#ifndef FCN_NOTIFICATION_ARRIVAL_P4
#define FCN_NOTIFICATION_ARRIVAL_P4

#include "../base/pe_metadata.p4"

// NotificationArrival: what is done with a notification for this node, by kind.
// Reads:  meta.base.notification_kind, meta.is_trusted (FCN-17), meta.notification_sound (FCN-9, SRF-4),
//         meta.base.mode.translates (FCN-16).
// Writes: meta.make_cnp, meta.base.forward, or meta.base.drop_reason: TRANSLATION_DISABLED for one that is
//         received, but about which this node does nothing: the mode of the domain is another.
// When:   packets of class NOTIFICATION.
control NotificationArrival(inout pe_meta_t meta) {
    action refuse(DropReason reason) {
        meta.base.drop_reason = reason;
    }
    action notify_sender() {
        meta.make_cnp = true;
        meta.base.forward = Forward.VRF;
    }

    PLACED(notification_arrival) @name(".notification_arrival")
    table notification_arrival {
        key = {
            meta.base.notification_kind: ternary @name("notification_kind");
            meta.is_trusted: ternary @name("is_trusted");
            meta.notification_sound: ternary @name("notification_sound");
            meta.base.mode.translates: ternary @name("translates");
        }
        actions = {
            refuse;
            notify_sender;
        }
        const default_action = refuse(DropReason.NOTIFICATION_MALFORMED);
        const entries = {
            (_, false, _, _): refuse(DropReason.NOTIFICATION_UNTRUSTED);
            (NotificationKind.FAST_CNP, _, true, NotificationKind.FAST_CNP): notify_sender();
            (NotificationKind.END_CON_CNP, _, true, NotificationKind.END_CON_CNP): notify_sender();
            (_, _, true, _): refuse(DropReason.TRANSLATION_DISABLED);
        }
    }

    apply {
        notification_arrival.apply();
    }
}

#endif
