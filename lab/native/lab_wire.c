/* Where links lead: what is connected, and who gets the frames that arrive. */
#include <stdlib.h>

#include "lab_core.h"

#define AHEAD 4u  /* frames */
#define READ 192u /* octets that a switch or the digest reads of a frame, about */

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

/* Frames leave the caches on a long link: fetch what will be read of one that arrives soon. The
 * compiler drops calls of a function that does nothing else, hence the attribute. */
static inline __attribute__((always_inline)) void fetch_ahead(const lab_link *link)
{
    if (link->next - link->first <= AHEAD)
        return;
    const lab_flying *soon = &link->ring[(link->first + AHEAD) & link->mask];
    __builtin_prefetch(soon->frame);
    for (uint32_t at = 0; at <= READ; at += 64)
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
    if (LAB_UNLIKELY(l->hops == l->meet_at))
        l->meet(link->direction);
    if (link->tapped || l->keep_digest)
        lab_record(l, link, f);
    if (link->to->kind == LAB_SWITCH)
        lab_switch_arrive(link->to->thing, l->now, link->to_port, f);
    else
        lab_host_arrive(link->to->thing, l->now, f);
}
