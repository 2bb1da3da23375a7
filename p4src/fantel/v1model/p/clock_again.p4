#ifndef FCN_FANTEL_P_CLOCK_AGAIN_P4
#define FCN_FANTEL_P_CLOCK_AGAIN_P4

#include "../../../base/v1model/p.p4"
#include "../clock.p4"

// ClockAgain: the clock packet has come round.
// Writes: meta.base.is_settled, egress_port or is_done, copy_kind; what Clock writes.
// When:   a later pass, behind what concerns copies.
control ClockAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    Clock() clock;

    apply {
        if (meta.fantel.is_clock == 1) {
            meta.base.is_settled = true;
            meta.base.egress_port = CLOCK_PORT;
            clock.apply(hdr.clock, meta.base.now, hdr.envelope, hdr.hello, hdr.notice, meta.base);
            if (!meta.base.is_done && hdr.notice.is_wanted == 1) {
                notifications_triggered.count(NotificationKind.FANTEL);
                meta.base.copy_kind = NotificationKind.FANTEL;
            }
        }
    }
}

#endif
