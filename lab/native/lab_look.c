/* Values of many places at once, for samples. */
#include <string.h>

#include "lab_core.h"

_Static_assert((int)SW_LOOK_BALANCE == (int)LAB_LOOK_BALANCE, "the first are those of an engine");

static uint64_t of_switch(const lab *l, const lab_probe *p, uint64_t before)
{
    const lab_switch *s = lab_switch_of(l, p->number);
    if (!s || !s->engine)
        return before;
    if (p->what == LAB_LOOK_OFF_DROPS)
        return s->off_drops;
    return p->base + s->api->look(s->engine, p->what, p->a, p->b);
}

static uint64_t of_link(const lab *l, const lab_probe *p, uint64_t before)
{
    if (p->number >= l->n_links)
        return before;
    const lab_link_stats *stats = &l->links[p->number]->stats;
    if (p->what == LAB_LOOK_PUT)
        return stats->put;
    return p->what == LAB_LOOK_CUT ? stats->cut : stats->put_octets;
}

static uint64_t of_connection(lab *l, const lab_probe *p, uint64_t before)
{
    lab_requester_stats stats;
    uint64_t rate;
    if (lab_roce_requester(l, p->number, p->a, &stats))
        return before;
    memcpy(&rate, &stats.rate_bps, sizeof rate);
    if (p->what == LAB_LOOK_RATE)
        return rate;
    return p->what == LAB_LOOK_OCTETS ? stats.octets : stats.acknowledged;
}

void lab_look(lab *l, size_t n, const lab_probe *probes, size_t columns, uint64_t *row)
{
    memcpy(row, row - columns, columns * sizeof *row);
    for (const lab_probe *p = probes; p < probes + n; p++) {
        uint64_t *value = row + p->column;
        if (p->what <= LAB_LOOK_OFF_DROPS)
            *value = of_switch(l, p, *value);
        else if (p->what <= LAB_LOOK_CUT)
            *value = of_link(l, p, *value);
        else
            *value = of_connection(l, p, *value);
    }
}
