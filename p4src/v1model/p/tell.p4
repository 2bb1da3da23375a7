#ifndef FCN_P_TELL_P4
#define FCN_P_TELL_P4

#include "../../base/v1model/p.p4"
#include "../../base/rate_limits.p4"
#include "../../fast_cnp/v1model/budget_gate.p4"
#include "../../fast_cnp/v1model/copy_for_sender.p4"
#include "../../fast_cnp/v1model/tunnel_cell.p4"
#include "congested_flow.p4"

// Tell: a congested queue, or what a mode knows, is said to the ingress PE or the sender, once per interval and flow, within
// the node's limit, which tunnels share (FCN-11, FCN-15). A message about a path goes first.
// Reads:  underlay header; meta.base.level_interval.
// Writes: meta.base.mode, tells, copy_kind, copy_label.
// When:   in egress, no copy.
control Tell(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    CongestedFlow() congested_flow;
    PathTells() path_tells;
    TunnelCell() tunnel_cell;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_sent;
    register<bit<96>, tenant_t>(TENANT_CELLS) lines;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) tunnels;
    register<bit<96>, tenant_t>(1) tunnel_line;
    FlowDue(last_sent) fast_cnp_due;
    BudgetGate(last_sent, lines, tunnels, tunnel_line) fast_cnp_gate;
    BudgetTurn(last_sent, lines, tunnels, tunnel_line) fast_cnp_turn;
    NotificationLimit() notification_limit;
    CopyForSender() copy_for_sender;

    apply {
        bool is_told;
        congested_flow.apply(hdr, meta, standard_metadata, is_told);
        path_tells.apply(hdr, meta, standard_metadata);
        if (meta.base.tells != NotificationKind.NONE) {
            color_t color = GREEN;
            notification_limit.apply(color);
            if (color != GREEN) {
                node_rate_suppressed.count(meta.base.tells);
                meta.base.tells = NotificationKind.NONE;
            }
        } else if (is_told) {
            budget_t budget = { 0, 0, false, false, false };
            bit<16> index = hdr.outer_ipv6.flow_label[15:0];
            fast_cnp_due.apply(
                index, meta.base.level_interval, standard_metadata.egress_global_timestamp, budget.cell, budget.due);
            if (!budget.due) {
                flow_interval_suppressed.count(meta.base.mode.congestion_kind);
            } else {
                tenant_t tunnel;
                color_t color = RED;
                tunnel_cell.apply(hdr.outer_ipv6, tunnel);
                fast_cnp_gate.apply(index, tunnel, standard_metadata.egress_global_timestamp, budget);
                if (budget.asks) {
                    notification_limit.apply(color);
                }
                fast_cnp_turn.apply(
                    index, tunnel, standard_metadata.egress_global_timestamp, budget, color == GREEN, 0);
                if (color == GREEN) {
                    meta.base.tells = meta.base.mode.congestion_kind;
                    meta.base.copy_label = hdr.outer_ipv6.flow_label;
                } else {
                    node_rate_suppressed.count(meta.base.mode.congestion_kind);
                }
            }
        }
        if (meta.base.tells != NotificationKind.NONE) {
            notifications_triggered.count(meta.base.tells);
            copy_for_sender.apply(meta.base);
        }
    }
}

#endif
