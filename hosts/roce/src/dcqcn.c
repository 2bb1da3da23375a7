#include "dcqcn.h"

#include <string.h>

void dcqcn_init(struct dcqcn *rp, const struct dcqcn_params *params)
{
    memset(rp, 0, sizeof *rp);
    rp->params = *params;
    rp->current_rate = rp->target_rate = params->line_rate;
    rp->alpha = 1.0;
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

    if (smaller(rp->timer_steps, rp->byte_steps) > p->fast_recovery_steps)
        rp->target_rate += p->hyper_increase;
    else if (larger(rp->timer_steps, rp->byte_steps) >= p->fast_recovery_steps)
        rp->target_rate += p->additive_increase;
    if (rp->target_rate > p->line_rate)
        rp->target_rate = p->line_rate;
    rp->current_rate = (rp->target_rate + rp->current_rate) / 2;
}

void dcqcn_advance(struct dcqcn *rp, uint64_t now)
{
    while (rp->has_cut) {
        if (rp->alpha_due <= rp->increase_due && rp->alpha_due <= now) {
            rp->alpha *= 1 - rp->params.g;
            rp->alpha_due += rp->params.alpha_period;
        } else if (rp->increase_due <= now) {
            rp->timer_steps++;
            increase(rp);
            rp->increase_due += rp->params.increase_period;
        } else {
            return;
        }
    }
}

bool dcqcn_on_cnp(struct dcqcn *rp, uint64_t now)
{
    const struct dcqcn_params *p = &rp->params;

    dcqcn_advance(rp, now);
    if (rp->has_cut && now - rp->last_cut < p->cut_interval)
        return false;
    rp->target_rate = rp->current_rate;
    rp->current_rate *= 1 - rp->alpha / 2;
    if (rp->current_rate < p->min_rate)
        rp->current_rate = p->min_rate;
    rp->alpha = (1 - p->g) * rp->alpha + p->g;
    rp->timer_steps = rp->byte_steps = 0;
    rp->octets = 0;
    rp->alpha_due = now + p->alpha_period;
    rp->increase_due = now + p->increase_period;
    rp->has_cut = true;
    rp->last_cut = now;
    return true;
}

void dcqcn_on_sent(struct dcqcn *rp, uint64_t octets, uint64_t now)
{
    dcqcn_advance(rp, now);
    if (!rp->has_cut)
        return;
    rp->octets += octets;
    while (rp->octets >= rp->params.byte_counter) {
        rp->octets -= rp->params.byte_counter;
        rp->byte_steps++;
        increase(rp);
    }
}
