#ifndef FCN_PACKET_CLASS_P4
#define FCN_PACKET_CLASS_P4

#include "../base/headers.p4"
#include "../base/pe_metadata.p4"

// Classify: which of the arrival tables decides about a packet. It needs neither what FlowByLabel found nor
// the VRF of a tunnel, so that a chip looks these up at the same time.
// Reads:  meta.base.copy_kind, meta.base.role, meta.base.is_arp, meta.base.notification_kind,
//         meta.base.destination, meta.base.is_malformed, meta.base.is_nd, meta.base.is_addressed; validity of the
//         underlay header.
// Writes: meta.packet_class.
// When:   PortRole has accepted the packet, or it is a copy made here.
control Classify(in ipv6_h outer_ipv6, inout pe_meta_t meta) {
    apply {
        if (meta.base.copy_kind != NotificationKind.NONE) {
            meta.packet_class = PacketClass.OWN_CONGESTION;
        } else if (meta.base.role == Role.DC) {
            meta.packet_class = PacketClass.CUSTOMER;
        } else if (!outer_ipv6.isValid() || meta.base.is_malformed || meta.base.is_nd
                || !meta.base.is_addressed) {
            meta.packet_class = PacketClass.WAN;
        } else if (meta.base.destination == Destination.NODE) {
            if (meta.base.notification_kind != NotificationKind.NONE) {
                meta.packet_class = PacketClass.NOTIFICATION;
            } else {
                meta.packet_class = PacketClass.TUNNEL_END;
            }
        } else if (meta.base.destination == Destination.END_CON) {
            meta.packet_class = PacketClass.NOTIFICATION;
        } else if (meta.base.destination == Destination.SERVICE_SID) {
            meta.packet_class = PacketClass.TUNNEL_END;
        } else {
            meta.packet_class = PacketClass.WAN;
        }
    }
}

#endif
