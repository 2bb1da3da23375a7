#include "delay.h"

#include <math.h>
#include <string.h>

#define NS_PER_S 1e9

void delay_init(struct delay_control *d, const struct delay_params *params)
{
    memset(d, 0, sizeof *d);
    d->params = *params;
    d->rate = params->line_rate;
    d->window = params->swift.most_window;
}

static double between(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

/* Each completion event (algorithm 1, with hyperactive increase as in section 4.3). */
static bool timely(struct delay_control *d, uint64_t rtt)
{
    const struct timely_params *p = &d->params.timely;
    double before = d->rate, difference = d->has_rtt ? (double)rtt - (double)d->rtt : 0;

    d->difference = (1 - p->ewma) * d->difference + p->ewma * difference;
    double gradient = d->difference / (double)p->least_rtt;
    if (rtt < p->low) {
        d->rate += p->additive_increase;
    } else if (rtt > p->high) {
        d->falling = 0;
        d->rate *= 1 - p->beta * (1 - (double)p->high / (double)rtt);
    } else if (gradient <= 0) {
        d->falling++;
        d->rate += p->additive_increase * (d->falling >= p->hyper_after ? p->hyper_factor : 1);
    } else {
        d->falling = 0;
        d->rate *= 1 - p->beta * gradient;
    }
    d->rate = between(d->rate, d->params.min_rate, d->params.line_rate);
    return d->rate < before;
}

double swift_target(const struct delay_control *d)
{
    const struct swift_params *p = &d->params.swift;
    double most = 1 / sqrt(p->scaling_most);
    double slope = (double)p->scaling / (1 / sqrt(p->scaling_least) - most);
    double more = slope * (1 / sqrt(d->window) - most);

    return (double)p->base_target + between(more, 0, (double)p->scaling);
}

static bool swift_decrease(struct delay_control *d, double factor, uint64_t now)
{
    double before = d->window;

    d->window = between(d->window * factor, d->params.swift.least_window, before);
    d->last_decrease = now;
    d->has_decreased = true;
    return d->window < before;
}

/* Once in a round trip. */
static bool may_decrease(const struct delay_control *d, uint64_t now)
{
    return !d->has_decreased || now - d->last_decrease >= d->rtt;
}

static bool swift(struct delay_control *d, uint64_t rtt, uint64_t packets, uint64_t now)
{
    const struct swift_params *p = &d->params.swift;
    double target = swift_target(d), delay = (double)rtt;

    if (delay < target) {
        double more = p->window_increase * (double)packets;
        d->window += d->window >= 1 ? more / d->window : more;
        d->window = between(d->window, p->least_window, p->most_window);
        return false;
    }
    if (!may_decrease(d, now))
        return false;
    double factor = 1 - p->beta * (delay - target) / delay;
    return swift_decrease(d, between(factor, 1 - p->max_decrease, 1), now);
}

bool delay_on_rtt(struct delay_control *d, uint64_t rtt, uint64_t packets, double packet_bits,
                  uint64_t now)
{
    bool is_swift = d->params.kind == DELAY_SWIFT;
    bool cut = is_swift ? swift(d, rtt, packets, now) : timely(d, rtt);

    d->has_rtt = true;
    d->rtt = rtt;
    /* Less than a packet in a round trip is paced (section 3.4); more is clocked by ACKs. */
    if (is_swift)
        d->rate = d->window < 1 ? d->window * packet_bits * NS_PER_S / (double)rtt
                                : d->params.line_rate;
    return cut;
}

bool delay_on_loss(struct delay_control *d, bool all, uint64_t now)
{
    if (d->params.kind != DELAY_SWIFT)
        return false;
    if (all)
        return swift_decrease(d, 0, now);
    return may_decrease(d, now) && swift_decrease(d, 1 - d->params.swift.max_decrease, now);
}

uint64_t delay_window(const struct delay_control *d)
{
    return d->window < 1 ? 1 : (uint64_t)d->window;
}
