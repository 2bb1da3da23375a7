#ifndef FCN_P_SECOND_PASS_P4
#define FCN_P_SECOND_PASS_P4

#include "../../base/v1model/p.p4"
#include "../../end_con/end_con_cnp.p4"

// SecondPass: what was made or parked here goes on.
// Reads:  meta.base.copy_kind; what the modes keep.
// Writes: meta.base.is_settled, egress_port or forward, notification_kind; a copy becomes a CNP by way of END.CON.
// When:   a recirculated packet.
control SecondPass(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldAgain() hold_again;
    HelloAgain() hello_again;
    ClockAgain() clock_again;
    EndConCnp() end_con_cnp;

    apply {
        hold_again.apply(hdr, meta, standard_metadata);
        hello_again.apply(hdr, meta, standard_metadata);
        if (meta.base.copy_kind != NotificationKind.NONE) {
            meta.base.notification_kind = meta.base.copy_kind;
            if (!meta.base.is_settled) {
                meta.base.forward = Forward.UNDERLAY;
            }
            if (meta.base.copy_kind == NotificationKind.END_CON_CNP) {
                bool made;
                end_con_cnp.apply(hdr, made);
                if (!made) {
                    // The packet itself has left: nothing is lost but the copy.
                    events.count(Event.INNER_OPAQUE);
                    mark_to_drop(standard_metadata);
                    exit;
                }
            }
            notifications_sent.count(meta.base.copy_kind);
            truncate((bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len));
        }
        clock_again.apply(hdr, meta, standard_metadata);
    }
}

#endif
