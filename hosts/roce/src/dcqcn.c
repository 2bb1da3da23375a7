#include "dcqcn.h"

#include <string.h>

void dcqcn_init(struct dcqcn *rp, const struct dcqcn_params *params)
{
    memset(rp, 0, sizeof *rp);
    rp->params = *params;
    rp->current_rate = rp->target_rate = params->line_rate;
    rp->alpha = params->initial_alpha;
    rp->alpha_due = rp->increase_due = rp->cut_due = DCQCN_NEVER;
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* One recovery step after the timer or the byte counter advanced (Algorithm 1 of the paper). */
static void increase(struct dcqcn *rp)
{
    const struct dcqcn_params *p = &rp->params;
    unsigned bytes = p->byte_counter ? rp->byte_steps : rp->timer_steps;

    if (smaller(rp->timer_steps, bytes) > p->fast_recovery_steps)
        rp->target_rate += p->hyper_increase;
    else if (larger(rp->timer_steps, bytes) >= p->fast_recovery_steps)
        rp->target_rate += p->additive_increase;
    if (rp->target_rate > p->line_rate)
        rp->target_rate = p->line_rate;
    rp->current_rate = (rp->target_rate + rp->current_rate) / 2;
}

static void raise_alpha(struct dcqcn *rp)
{
    rp->alpha = (1 - rp->params.g) * rp->alpha + rp->params.g;
}

static void cut(struct dcqcn *rp, uint64_t now)
{
    const struct dcqcn_params *p = &rp->params;

    if (rp->has_cut && now - rp->last_cut < p->cut_interval)
        return;
    if (p->clamp_target || rp->timer_steps || !rp->has_cut)
        rp->target_rate = rp->current_rate;
    rp->current_rate *= 1 - rp->alpha / 2;
    if (rp->current_rate < p->min_rate)
        rp->current_rate = p->min_rate;
    if (!p->alpha_by_timer) {
        raise_alpha(rp);
        rp->alpha_due = now + p->alpha_period;
    }
    rp->timer_steps = rp->byte_steps = 0;
    rp->octets = 0;
    rp->increase_due = now + p->increase_period;
    rp->has_cut = rp->cut_is_new = true;
    rp->last_cut = now;
}

static void update_alpha(struct dcqcn *rp)
{
    if (rp->alpha_rises)
        raise_alpha(rp);
    else
        rp->alpha *= 1 - rp->params.g;
    rp->alpha_rises = false;
    rp->alpha_due += rp->params.alpha_period;
}

void dcqcn_advance(struct dcqcn *rp, uint64_t now)
{
    for (;;) {
        if (rp->alpha_due <= rp->increase_due && rp->alpha_due <= rp->cut_due &&
            rp->alpha_due <= now) {
            update_alpha(rp);
        } else if (rp->increase_due <= rp->cut_due && rp->increase_due <= now) {
            rp->timer_steps++;
            increase(rp);
            rp->increase_due += rp->params.increase_period;
        } else if (rp->cut_due <= now) {
            uint64_t due = rp->cut_due;
            rp->cut_due = DCQCN_NEVER;
            cut(rp, due);
        } else {
            return;
        }
    }
}

void dcqcn_on_cnp(struct dcqcn *rp, uint64_t now)
{
    const struct dcqcn_params *p = &rp->params;

    dcqcn_advance(rp, now);
    if (!rp->has_cnp) {
        rp->has_cnp = true;
        rp->first_cnp = now;
        if (p->alpha_by_timer)
            rp->alpha_due = now + p->alpha_period;
    } else if (p->alpha_by_timer) {
        rp->alpha_rises = true;
    }
    if (!p->cut_period)
        cut(rp, now);
    else if (rp->cut_due == DCQCN_NEVER)
        rp->cut_due = now + p->cut_period - (now - rp->first_cnp) % p->cut_period;
}

void dcqcn_on_sent(struct dcqcn *rp, uint64_t octets, uint64_t now)
{
    dcqcn_advance(rp, now);
    if (!rp->has_cut || !rp->params.byte_counter)
        return;
    rp->octets += octets;
    while (rp->octets >= rp->params.byte_counter) {
        rp->octets -= rp->params.byte_counter;
        rp->byte_steps++;
        increase(rp);
    }
}
