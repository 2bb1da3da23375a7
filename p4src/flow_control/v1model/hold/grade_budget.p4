#ifndef FCN_GRADE_BUDGET_P4
#define FCN_GRADE_BUDGET_P4

#include "hold_budget.p4"
#include "hold_registers.p4"

// GradeBudget: whether the node holds so much that its upstream neighbours are to stop, or so little that they may go on.
// Reads:  hold: what waits at the node; budget.
// Writes: budget_state.
// When:   Hold was asked.
control GradeBudget(in hold_t hold, in hold_budget_t budget) {
    apply {
        if (hold.packets >= budget.mark_packets || hold.octets >= budget.mark_octets) {
            budget_state.write(0, (bit<2>)BudgetState.CONGESTED);
        } else if (hold.packets <= budget.low_packets && hold.octets <= budget.low_octets) {
            budget_state.write(0, (bit<2>)BudgetState.RELIEVED);
        } else {
            budget_state.write(0, (bit<2>)BudgetState.BETWEEN);
        }
    }
}

#endif
