#ifndef FCN_FANTEL_PE_PATH_CONGESTED_P4
#define FCN_FANTEL_PE_PATH_CONGESTED_P4

#include "../../../base/v1model/pe.p4"
#include "../path_state/path_registers.p4"

// PathCongested: the sender hears that its flow's path is congested farther on; a message about a path is for so many
// senders and no more (FAN-6, ALL-4).
// Reads:  meta.fantel.path_cnp_interval; whether the sender is told for another reason.
// Writes: meta.tell_interval, meta.fantel.tells_of_path.
// When:   before TellSender.
control PathCongested(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.fantel.path_cnp_interval != 0 && meta.flow_label_assigned && meta.tell_interval == 0
                && (meta.base.level_notifies == 0 || meta.base.mode.congestion_kind == NotificationKind.NONE)) {
            bit<16> left;
            path_cnps.read(left, meta.fantel.path_cnp_policy);
            if (left == 0) {
                node_rate_suppressed.count(NotificationKind.CNP);
            } else {
                meta.tell_interval = meta.fantel.path_cnp_interval;
                meta.fantel.tells_of_path = true;
            }
        }
    }
}

#endif
