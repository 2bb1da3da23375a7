#ifndef FCN_TNA_PACKET_CLASS_P4
#define FCN_TNA_PACKET_CLASS_P4

#include "../../base/headers.p4"
#include "../../base/pe_metadata.p4"

// Classify: as the control of that name for BMv2, by one table: of the twelve stages, each has 16.
control Classify(in ipv6_h outer_ipv6, inout pe_meta_t meta) {
    action is_class(PacketClass class) {
        meta.packet_class = class;
    }

    @hidden
    table packet_class {
        key = {
            meta.base.copy_kind: ternary;
            meta.base.role: ternary;
            outer_ipv6.isValid(): ternary;
            meta.base.is_malformed: ternary;
            meta.base.is_nd: ternary;
            meta.base.is_addressed: ternary;
            meta.base.destination: ternary;
            meta.base.notification_kind: ternary;
        }
        actions = {
            is_class;
        }
        const default_action = is_class(PacketClass.WAN);
        const entries = {
            (NotificationKind.CNP, _, _, _, _, _, _, _): is_class(PacketClass.OWN_CONGESTION);
            (_, Role.DC, _, _, _, _, _, _): is_class(PacketClass.CUSTOMER);
            (_, _, true, false, false, true, Destination.NODE, NotificationKind.NONE): is_class(PacketClass.TUNNEL_END);
            (_, _, true, false, false, true, Destination.NODE, _): is_class(PacketClass.NOTIFICATION);
            (_, _, true, false, false, true, Destination.END_CON, _): is_class(PacketClass.NOTIFICATION);
            (_, _, true, false, false, true, Destination.SERVICE_SID, _): is_class(PacketClass.TUNNEL_END);
        }
    }

    apply {
        packet_class.apply();
    }
}

#endif
