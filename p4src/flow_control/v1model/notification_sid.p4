#ifndef FCN_NOTIFICATION_SID_P4
#define FCN_NOTIFICATION_SID_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"

// NotificationSid: what goes to the END.CON SID of a PE is a notification on its way there (SRF-4). A customer's packet
// cannot: it goes where its tunnel ends.
// Reads:  underlay destination address.
// Writes: meta.notification_kind.
// When:   packets of the underlay from a core port, while flow control is on.
control NotificationSid(in ipv6_addr_t dst, inout base_meta_t meta) {
    action on_its_way() {
        meta.notification_kind = NotificationKind.END_CON_CNP;
    }
    action other() { }

    @name(".notification_sid")
    table notification_sid {
        key = {
            dst: exact @name("dst");
        }
        actions = {
            @tableonly on_its_way;
            @defaultonly other;
        }
        const default_action = other;
        size = NOTIFICATION_SID_TABLE_SIZE;
    }

    apply {
        notification_sid.apply();
    }
}

#endif
