/* Links: each direction is a line of frames, in the order in which they arrive. */
#include <stdlib.h>

#include "lab_core.h"
#include "lab_impairment.h"

static bool grow_ring(lab_link *link)
{
    uint32_t n = link->next - link->first, size = link->ring ? (link->mask + 1) * 2 : 16;
    lab_flying *ring = malloc(size * sizeof *ring);
    if (!ring)
        return false;
    for (uint32_t i = 0; i < n; i++)
        ring[i] = link->ring[(link->first + i) & link->mask];
    free(link->ring);
    link->ring = ring;
    link->mask = size - 1;
    link->first = 0;
    link->next = n;
    return true;
}

static void lose(lab_link *link, sw_frame *f)
{
    link->stats.cut++;
    sw_frame_give(&link->lab->pool, f);
}

void lab_link_clear(lab_link *link)
{
    while (link->first != link->next)
        lose(link, link->ring[link->first++ & link->mask].frame);
}

void lab_link_put(lab_link *link, uint64_t at, sw_frame *f)
{
    uint32_t n = link->next - link->first;
    link->stats.put++;
    link->stats.put_octets += f->len;
    if (!link->up || ((!link->ring || n > link->mask) && !grow_ring(link))) {
        lose(link, f);
        return;
    }
    at += link->delay_ns;
    if (LAB_UNLIKELY(link->impairment)) {
        if (lab_has_error(link->impairment, f)) {
            link->stats.errors++;
            sw_frame_give(&link->lab->pool, f);
            return;
        }
        at += lab_jitter(link->impairment);
    }
    /* A rate that was raised, or jitter, must not put a frame before the one ahead of it. */
    if (n && at < link->ring[(link->next - 1) & link->mask].at)
        at = link->ring[(link->next - 1) & link->mask].at;
    f->at = at;
    link->ring[link->next++ & link->mask] = (lab_flying){at, f, f->data + f->head};
    if (!n)
        lab_schedule(link->lab, link->actor.number, at);
}

int64_t lab_link_stats_of(const lab *l, uint32_t direction, lab_link_stats *out)
{
    if (direction >= l->n_links)
        return LAB_ERR_NODE;
    *out = l->links[direction]->stats;
    out->in_flight = l->links[direction]->next - l->links[direction]->first;
    return 0;
}
