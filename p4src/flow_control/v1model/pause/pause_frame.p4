#ifndef FCN_PAUSE_FRAME_P4
#define FCN_PAUSE_FRAME_P4

#include "../../../base/v1model/pe.p4"
#include "../../flow_control_types.p4"
#include "pause_request.p4"

// PauseFrame: a PAUSE frame is taken, or refused (SRF-9).
// Reads:  the frame and its length; where it came from; is_heeded, quantum: what HeededPauses says of that port.
// Writes: meta.flow_control.request and what Hold needs for it; meta.base.drop_reason: why a frame is not heeded. Asks for
//         another pass where a frame names more priorities.
// When:   meta.flow_control.is_pause.
control PauseFrame(
        in pause_h pause, in bit<32> frame_octets, in bool is_heeded, in bit<32> quantum, inout pe_meta_t meta) {
    PauseRequest() pause_request;

    apply {
        if (meta.base.role == Role.CORE) {
            meta.base.drop_reason = DropReason.NOTIFICATION_UNTRUSTED;
        } else if (meta.base.role == Role.DC || is_heeded) {
            // A port may have no role for frames without a tag.
            meta.base.drop_reason = DropReason.NONE;
            if (!pause.isValid() || frame_octets != PAUSE_FRAME_LENGTH) {
                meta.base.drop_reason = DropReason.NOTIFICATION_MALFORMED;
            } else if (pause.opcode != PFC_OPCODE) {
                meta.base.drop_reason = DropReason.UNSUPPORTED;
            } else if (!is_heeded || meta.flow_control.mode == FlowControl.OFF) {
                meta.base.drop_reason = DropReason.NOTIFICATION_ON_DC_PORT;
            } else {
                // Of the first pass; later ones say with which priority they go on.
                bit<3> first = 0;
                bit<3> next;
                if (meta.flat == 1) {
                    first = (bit<3>)meta.base.parse_more;
                } else {
                    notifications_received.count(NotificationKind.PAUSE);
                }
                pause_request.apply(pause, first, quantum, meta.flow_control, next);
                if (next != 0) {
                    meta.flat = 1;
                    meta.base.parse_more = (ParseMore)next;
                    resubmit_preserving_field_list(KEEP_FLAT);
                }
            }
        }
    }
}

#endif
