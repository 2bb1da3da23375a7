#ifndef FCN_NOTIFICATION_PORT_P4
#define FCN_NOTIFICATION_PORT_P4

#include "../base/metadata.p4"
#include "../base/sizes.p4"

// NotificationPort: which of the domain's notifications a datagram is, by its UDP port (FCN-9).
// Reads:  UDP destination port.
// Writes: meta.notification_kind.
// When:   every packet with UDP over IPv6, before any decision is taken on it.
control NotificationPort(in bit<16> udp_dst_port, inout base_meta_t meta) {
    action set_notification_kind(NotificationKind kind) {
        meta.notification_kind = kind;
    }
    action no_notification() { }

    PLACED(notification_port) @name(".notification_port")
    table notification_port {
        key = {
            udp_dst_port: exact @name("udp_dst_port");
        }
        actions = {
            @tableonly set_notification_kind;
            @defaultonly no_notification;
        }
        const default_action = no_notification;
        size = NOTIFICATION_PORT_TABLE_SIZE;
    }

    apply {
        notification_port.apply();
    }
}

#endif
