#ifndef FCN_FLOW_CONTROL_P_HOLD_ASK_P4
#define FCN_FLOW_CONTROL_P_HOLD_ASK_P4

#include "../../../base/v1model/p.p4"
#include "../../../fast_cnp/v1model/budget_gate.p4"
#include "../../../fast_cnp/v1model/tunnel_cell.p4"
#include "../ask_upstream.p4"

// HoldAsk: is the neighbour asked?
// Writes: meta.base.stays: the packet waits; meta.base.asks.
// When:   in egress, no copy.
control HoldAsk(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    AskUpstream() ask_upstream;
    TunnelCell() tunnel_cell;

    apply {
        meta.base.stays = standard_metadata.egress_port == PARK_PORT;
        if (meta.flow_control.has_upstream && meta.base.notification_kind == NotificationKind.NONE) {
            // A service is a tunnel's already.
            tenant_t tunnel = 0;
            if (meta.flow_control.mode == FlowControl.FLOW) {
                tunnel_cell.apply(hdr.outer_ipv6, tunnel);
            }
            ask_upstream.apply(standard_metadata, meta.base.stays, tunnel, 0, meta.flow_control, meta.base.asks);
        }
    }
}

#endif
