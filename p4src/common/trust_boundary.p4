#ifndef FCN_TRUST_BOUNDARY_P4
#define FCN_TRUST_BOUNDARY_P4

// NotificationPort: is this datagram one of the domain's notifications? (FCN-9)
// Reads:  meta.udp_dst_port (0 when the packet is not UDP over IPv6).
// Writes: meta.is_notification.
// When:   every IPv6 packet, before any decision is taken on it.
control NotificationPort(inout meta_t meta) {
    action fast_cnp() {
        meta.is_notification = true;
    }
    action not_notification() {
        meta.is_notification = false;
    }

    PLACE_AT(0) @name(".notification_port")
    table notification_port {
        key = {
            meta.udp_dst_port: exact @name("udp_dst_port");
        }
        actions = {
            @tableonly fast_cnp;
            @defaultonly not_notification;
        }
        const default_action = not_notification;
        size = NOTIFICATION_PORT_TABLE_SIZE;
    }

    apply {
        notification_port.apply();
    }
}

// TrustBoundary: notifications are believed from configured prefixes of the domain only (FCN-17).
// Reads:  underlay source address.
// Writes: meta.is_trusted.
// When:   every packet from a core port.
control TrustBoundary(in ipv6_addr_t src, inout meta_t meta) {
    action trust() {
        meta.is_trusted = true;
    }
    action untrusted() {
        meta.is_trusted = false;
    }

    PLACE_AT(0) @name(".trusted_source")
    table trusted_source {
        key = {
            src: lpm @name("src");
        }
        actions = {
            @tableonly trust;
            untrusted;
        }
        const default_action = untrusted;
        size = TRUSTED_SOURCE_TABLE_SIZE;
    }

    apply {
        trusted_source.apply();
    }
}

#endif
