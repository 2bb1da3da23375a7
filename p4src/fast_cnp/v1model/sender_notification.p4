#ifndef FCN_SENDER_NOTIFICATION_P4
#define FCN_SENDER_NOTIFICATION_P4

#include "../../base/v1model/pe.p4"
#include "../../base/rate_limits.p4"
#include "../cnp_generator.p4"
#include "../cnp_profile.p4"
#include "budget_gate.p4"
#include "icrc.p4"

// SenderNotification: a CNP for the sender FlowByLabel has found, within both rate limits (FCN-12,
// FCN-13, FCN-15).
// Reads:  meta.label_fault, meta.notify_label, time now in microseconds.
// Writes: every header; hdr.cnp_profile; meta.base.drop_reason when the sender is not known or a limit is
//         reached.
// When:   meta.make_cnp.
control SenderNotification(inout pe_headers_t hdr, inout pe_meta_t meta, in bit<48> now) {
    CnpProfile() cnp_profile;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_sent;
    register<bit<96>, tenant_t>(TENANT_CELLS) lines;
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) tenants;
    register<bit<96>, tenant_t>(1) tenant_line;
    FlowDue(last_sent) cnp_due;
    BudgetGate(last_sent, lines, tenants, tenant_line) cnp_gate;
    BudgetTurn(last_sent, lines, tenants, tenant_line) cnp_turn;
    NotificationLimit() notification_limit;
    CnpGenerator() cnp_generator;
    Icrc() icrc;

    apply {
        budget_t budget = { 0, 0, false, false, false };
        bit<16> index = meta.notify_label[15:0];
        tenant_t tenant = VRF_CELL(meta.base.vrf);
        color_t color = RED;
        if (meta.label_fault != DropReason.NONE) {
            meta.base.drop_reason = meta.label_fault;
        } else {
            cnp_profile.apply(hdr.cnp_profile);
            cnp_due.apply(index, hdr.cnp_profile.min_interval, now, budget.cell, budget.due);
            if (!budget.due) {
                meta.base.drop_reason = DropReason.FLOW_INTERVAL;
            } else {
                cnp_gate.apply(index, tenant, now, budget);
                if (budget.asks) {
                    notification_limit.apply(color);
                }
                cnp_turn.apply(index, tenant, now, budget, color == GREEN, 0);
                if (color != GREEN) {
                    meta.base.drop_reason = DropReason.NODE_RATE_LIMIT;
                } else {
                    cnp_generator.apply(hdr, meta);
                    icrc.apply(hdr, meta);
                }
            }
        }
    }
}

#endif
