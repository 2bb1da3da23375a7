#ifndef FCN_CLOCK_LEAVING_P4
#define FCN_CLOCK_LEAVING_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/metadata.p4"

// ClockLeaving: the clock packet goes round, with a copy of it that becomes a message.
// Writes: meta.fantel.is_clock, meta.base.now of its next pass.
// When:   in egress, no copy. Ends the pass of the clock packet.
control ClockLeaving(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.egress_port == CLOCK_PORT) {
            if (meta.base.copy_kind != NotificationKind.NONE) {
                clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
            }
            meta.fantel.is_clock = 1;
            meta.base.now = standard_metadata.egress_global_timestamp;
            recirculate_preserving_field_list(KEEP_CLOCK);
            exit;
        }
    }
}

#endif
