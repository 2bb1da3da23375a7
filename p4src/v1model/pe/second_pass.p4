#ifndef FCN_PE_SECOND_PASS_P4
#define FCN_PE_SECOND_PASS_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/tell_ingress_pe.p4"
#include "take_as_underlay.p4"

// SecondPass: what was made or parked here goes on.
// Reads:  meta.base.copy_kind, copy_label; what the modes keep.
// Writes: meta.base.is_settled, egress_port or forward, notification_kind; meta.notify_label, of a copy that becomes a CNP.
// When:   a recirculated packet, or one that waits.
control SecondPass(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldAgain() hold_again;
    HelloAgain() hello_again;
    ClockAgain() clock_again;
    TakeAsUnderlay() take_as_underlay;

    apply {
        hold_again.apply(hdr, meta, standard_metadata);
        hello_again.apply(hdr, meta, standard_metadata);
        if (meta.base.copy_kind != NotificationKind.NONE) {
            if (IS_FOR_INGRESS_PE(meta.base.copy_kind)) {
                meta.base.is_settled = true;
                if (!hdr.outer_ipv6.isValid()) {
                    take_as_underlay.apply(hdr);
                }
                meta.base.forward = Forward.UNDERLAY;
                truncate((bit<32>)(hdr.outer_ipv6.payload_len + IPV6_LENGTH + ETHERNET_LENGTH));
            }
            if (meta.base.is_settled) {
                meta.base.notification_kind = meta.base.copy_kind;
                notifications_sent.count(meta.base.copy_kind);
            } else {
                meta.notify_label = meta.base.copy_label;
            }
        }
        clock_again.apply(hdr, meta, standard_metadata);
    }
}

#endif
