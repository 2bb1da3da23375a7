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

static uint64_t value_of(lab *l, const lab_probe *p, uint64_t before)
{
    if (p->what <= LAB_LOOK_OFF_DROPS)
        return of_switch(l, p, before);
    if (p->what <= LAB_LOOK_CUT)
        return of_link(l, p, before);
    return of_connection(l, p, before);
}

void lab_look(lab *l, size_t n, const lab_probe *probes, uint64_t *row)
{
    for (size_t i = 0; i < n; i++)
        row[i] = value_of(l, &probes[i], *(row + i - n));
}

void lab_note(lab *l, lab_watch *w)
{
    for (size_t i = 0; i < w->n; i++) {
        uint64_t value = value_of(l, &w->probes[i], w->last[i]);
        if (value == w->last[i])
            continue;
        w->last[i] = value;
        w->changes[w->noted++] = (lab_change){.time = l->now, .probe = i, .value = value};
    }
}

uint64_t lab_run_noting(lab *l, uint64_t until, lab_watch *w)
{
    uint64_t seen = UINT64_MAX; /* without an act since the last look nothing has changed */
    while (w->due < w->end && w->due <= until && w->due < w->before) {
        uint64_t reached = lab_run(l, w->due);
        if (reached < w->due || lab_stopped(l) || w->room - w->noted < w->n)
            return reached;
        if (l->acts != seen)
            lab_note(l, w);
        seen = l->acts;
        w->due += w->every;
        if (w->due >= w->end)
            return reached;
    }
    return lab_run(l, until);
}
