#ifndef FCN_FLOW_CONTROL_PE_HOLD_ASK_P4
#define FCN_FLOW_CONTROL_PE_HOLD_ASK_P4

#include "../../../base/v1model/pe.p4"
#include "../ask_upstream.p4"
#include "../hold/hold_registers.p4"

// Of a pause, in microseconds; controller/config/check_pauses.py sees to it that it is refreshed before
const flow_label_t LONGEST_PAUSE = 0xfffff;

// HoldAsk: is the neighbour, or the data centre, asked?
// Reads:  what HoldOrigin found; the queue; hold_ends of a packet that waits for a data centre.
// Writes: meta.base.stays: the packet waits, or is the copy of one that leaves after it has waited for a data centre;
//         meta.base.asks; meta.tell_interval: the sender is asked; meta.base.copy_label: how long a data centre's pause
//         goes on. An ARN says no more than that: nothing else is told by a packet that waits for a data centre.
// When:   in egress, no copy.
control HoldAsk(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    AskUpstream() ask_upstream;

    apply {
        bool parked = standard_metadata.egress_port == PARK_PORT;
        microseconds_t pause_left = 0;
        if (standard_metadata.instance_type == INSTANCE_INGRESS_CLONE) {
            meta.flow_control.queue = QueueState.RELIEVED;
            meta.base.stays = true;
        } else if (parked) {
            meta.base.stays = true;
            if (meta.base.parse_more == WAITED_FOR_DC) {
                bit<48> end;
                hold_ends.read(end, meta.flow_control.cell);
                if (end > standard_metadata.egress_global_timestamp) {
                    meta.flow_control.queue = QueueState.CONGESTED;
                    pause_left = (microseconds_t)(end - standard_metadata.egress_global_timestamp);
                    meta.base.copy_label = LONGEST_PAUSE;
                    if (pause_left < (microseconds_t)LONGEST_PAUSE) {
                        meta.base.copy_label = (flow_label_t)pause_left;
                    }
                }
            }
        }
        if (meta.flow_control.mode != FlowControl.OFF
                && (meta.flow_control.has_upstream || meta.flow_control.relief != Relief.NONE)
                && (meta.encapsulated || meta.base.notification_kind == NotificationKind.NONE)) {
            ask_upstream.apply(
                standard_metadata, parked, VRF_CELL(meta.base.vrf), pause_left, meta.flow_control,
                meta.base.asks);
            if (meta.flow_control.relief == Relief.CNP && (meta.flow_control.queue == QueueState.CONGESTED
                        || meta.flow_control.budget == BudgetState.CONGESTED)) {
                meta.tell_interval = meta.flow_control.refresh;
            }
        }
    }
}

#endif
