#ifndef FCN_FLOW_CONTROL_P_HOLD_PARSE_P4
#define FCN_FLOW_CONTROL_P_HOLD_PARSE_P4

#include "../../../base/v1model/p.p4"

// HoldParse: in mode flow what the tunnel carries is parsed on a second pass.
// Writes: meta.base.parse_more. Ends the pass of a packet that is parsed again.
// When:   a packet of the underlay that goes on.
control HoldParse(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.flow_control.mode == FlowControl.FLOW && meta.base.notification_kind == NotificationKind.NONE) {
            if (meta.base.parse_more == ParseMore.NONE) {
                meta.base.parse_more = ParseMore.INNER;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
            // A sub-parser that fails loses what it has extracted.
            if (meta.base.parse_more == ParseMore.INNER && standard_metadata.parser_error != error.NoError) {
                meta.base.parse_more = ParseMore.NOTHING;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
        }
    }
}

#endif
