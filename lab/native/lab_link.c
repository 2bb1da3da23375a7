/* Links: each direction is a line of frames, in the order in which they arrive. */
#include <stdlib.h>

#include "lab_pfc.h"

#define AHEAD 4u     /* frames */
#define HEADERS 128u /* octets that a switch reads of a frame, about */

static int64_t add_direction(lab *l, uint32_t node, uint32_t port, uint64_t delay_ns)
{
    lab_link **links = realloc(l->links, (l->n_links + 1) * sizeof(lab_link *));
    if (links)
        l->links = links;
    lab_link *link = calloc(1, sizeof *link);
    if (!links || !link || !lab_add_actor(l, &link->actor, LAB_LINK, link)) {
        free(link);
        return LAB_ERR_MEMORY;
    }
    link->lab = l;
    link->to = l->nodes[node];
    link->to_port = port;
    link->direction = l->n_links;
    link->delay_ns = delay_ns;
    link->up = true;
    links[l->n_links] = link;
    return l->n_links++;
}

static void attach_link(lab *l, uint32_t node, uint32_t port, lab_link *out)
{
    lab_switch *s = lab_switch_of(l, node);
    if (s) {
        s->links[port] = out;
        if (s->engine)
            s->api->set_link(s->engine, port, true);
    } else {
        lab_host_attach(l->nodes[node]->thing, out);
    }
}

int64_t lab_connect(lab *l, uint32_t a, uint32_t a_port, uint32_t b, uint32_t b_port,
                    uint64_t delay_ns)
{
    if (a >= l->n_nodes || b >= l->n_nodes)
        return LAB_ERR_NODE;
    if (a_port >= LAB_PORTS || b_port >= LAB_PORTS)
        return LAB_ERR_PORT;
    int64_t there = add_direction(l, b, b_port, delay_ns);
    int64_t back = there < 0 ? there : add_direction(l, a, a_port, delay_ns);
    if (back < 0)
        return back;
    attach_link(l, a, a_port, l->links[there]);
    attach_link(l, b, b_port, l->links[back]);
    return there / 2;
}

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
    /* A rate that was raised must not put a frame before the one ahead of it. */
    if (n && at < link->ring[(link->next - 1) & link->mask].at)
        at = link->ring[(link->next - 1) & link->mask].at;
    f->at = at;
    link->ring[link->next++ & link->mask] = (lab_flying){at, f, f->data + f->head};
    if (!n)
        lab_schedule(link->lab, link->actor.number, at);
}

static void set_direction(lab_link *link, const lab_link *back, bool up)
{
    link->up = up;
    if (!up)
        lab_link_clear(link);
    lab_schedule(link->lab, link->actor.number, LAB_NEVER);
    if (link->to->kind == LAB_SWITCH) {
        lab_switch *s = link->to->thing;
        if (s->engine && s->links[link->to_port] == back)
            s->api->set_link(s->engine, link->to_port, up);
    }
}

int64_t lab_set_link(lab *l, uint32_t number, bool up)
{
    if (number >= l->n_links / 2)
        return LAB_ERR_NODE;
    lab_link *there = l->links[2 * number], *back = l->links[2 * number + 1];
    if (there->up != up) {
        set_direction(there, back, up);
        set_direction(back, there, up);
    }
    return 0;
}

static void arrive_at_switch(lab_switch *s, uint64_t now, uint32_t port, sw_frame *f)
{
    lab *l = s->lab;
    if (!s->engine) {
        s->off_drops++;
        sw_frame_give(&l->pool, f);
        return;
    }
    if (LAB_UNLIKELY(s->pfc[port]) && lab_pfc_on_frame(s->pfc[port], now, f)) {
        sw_frame_give(&l->pool, f);
        return;
    }
    lab_schedule(l, s->actor.number, s->api->arrive(s->engine, now, port, f));
    l->stopped |= s->listens && *s->waiting_events;
}

/* Frames leave the caches on a long link: fetch what will be read of one that arrives soon. The
 * compiler drops calls of a function that does nothing else, hence the attribute. */
static inline __attribute__((always_inline)) void fetch_ahead(const lab_link *link)
{
    if (link->next - link->first <= AHEAD)
        return;
    const lab_flying *soon = &link->ring[(link->first + AHEAD) & link->mask];
    __builtin_prefetch(soon->frame);
    for (uint32_t at = 0; at <= HEADERS; at += 64)
        __builtin_prefetch(soon->octets + at);
}

void lab_link_act(lab_link *link)
{
    lab *l = link->lab;
    fetch_ahead(link);
    sw_frame *f = link->ring[link->first++ & link->mask].frame;
    bool more = link->first != link->next;
    lab_schedule(l, link->actor.number, more ? link->ring[link->first & link->mask].at : LAB_NEVER);
    link->stats.delivered++;
    l->hops++;
    if (link->tapped || l->keep_digest)
        lab_record(l, link, f);
    if (link->to->kind == LAB_SWITCH)
        arrive_at_switch(link->to->thing, l->now, link->to_port, f);
    else
        lab_host_arrive(link->to->thing, l->now, f);
}

int64_t lab_link_stats_of(const lab *l, uint32_t direction, lab_link_stats *out)
{
    if (direction >= l->n_links)
        return LAB_ERR_NODE;
    *out = l->links[direction]->stats;
    out->in_flight = l->links[direction]->next - l->links[direction]->first;
    return 0;
}
