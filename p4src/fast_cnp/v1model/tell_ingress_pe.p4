// The egress PE is a congested node like a P where its port to a data centre is (FCN-18): the ingress PE of the flow hears
// of it. The tunnel, which names both, is gone by then: hdr.ingress_pe carries what is needed of it.
#ifndef FCN_TELL_INGRESS_PE_P4
#define FCN_TELL_INGRESS_PE_P4

#include "../../base/v1model/pe.p4"
#include "budget_gate.p4"

// What a P sends, too; of other kinds (FANTEL, which is about paths) an egress PE has nothing to say.
#define IS_FOR_INGRESS_PE(kind) \
    ((kind) == NotificationKind.FAST_CNP || (kind) == NotificationKind.END_CON_CNP)

// NoticeLimit: bounds what a PE sends to others of its kind (FCN-15), apart from the CNPs for its own senders.
// Writes: color, GREEN when the notification may go.
// When:   a notification has passed its flow's gate. Not configured, the meter lets everything pass.
control NoticeLimit(inout color_t color) {
    METER(".notice_meter", notice_meter, bit<1>, 1)

    apply {
        EXECUTE_METER(notice_meter, 0, color)
    }
}

// TellIngressPe: is it time to? As at a P: once per interval and flow, within the node's limit (FCN-11, FCN-15).
// Reads:  base.mode, base.level_interval; hdr.ingress_pe, BTH.
// Writes: base.tells: what the copy becomes; base.copy_label.
// When:   a packet with hdr.ingress_pe leaves by the congested port of a data centre.
control TellIngressPe(
        in bth_h bth, in ingress_pe_h ingress_pe, in bit<48> now, inout base_meta_t base) {
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_sent;
    register<bit<96>, tenant_t>(TENANT_CELLS) lines;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) tenants;
    register<bit<96>, tenant_t>(1) tenant_line;
    FlowDue(last_sent) notice_due;
    BudgetGate(last_sent, lines, tenants, tenant_line) notice_gate;
    BudgetTurn(last_sent, lines, tenants, tenant_line) notice_turn;
    NoticeLimit() notice_limit;

    apply {
        NotificationKind kind = base.mode.congestion_kind;
        if (kind == NotificationKind.END_CON_CNP && (!bth.isValid() || bth.opcode == BthOpcode.CNP)) {
            events.count(Event.INNER_OPAQUE);
        } else {
            budget_t budget = { 0, 0, false, false, false };
            bit<16> index = ingress_pe.label[15:0];
            tenant_t tenant = VRF_CELL(base.vrf);
            color_t color = RED;
            notice_due.apply(index, base.level_interval, now, budget.cell, budget.due);
            if (!budget.due) {
                flow_interval_suppressed.count(kind);
            } else {
                notice_gate.apply(index, tenant, now, budget);
                if (budget.asks) {
                    notice_limit.apply(color);
                }
                notice_turn.apply(index, tenant, now, budget, color == GREEN, 0);
                if (color != GREEN) {
                    node_rate_suppressed.count(kind);
                } else {
                    notifications_triggered.count(kind);
                    base.tells = kind;
                    base.copy_label = ingress_pe.label;
                }
            }
        }
    }
}

#endif
