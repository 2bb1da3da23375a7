/* Switches: engines of the softswitch, and what is plugged into their ports. */
#include <stdlib.h>

#include "lab_depth.h"
#include "lab_pfc.h"
#include "lab_red.h"

static void switch_sink(void *context, uint32_t port, uint64_t at, sw_frame *f)
{
    lab_switch *s = context;
    lab_link *link = port < LAB_PORTS ? s->links[port] : NULL;
    if (link) {
        if (LAB_UNLIKELY(s->red[port])) {
            uint64_t left = s->api->look(s->engine, SW_LOOK_QUEUED_OCTETS, port, 0);
            lab_red_pass(s->red[port], left, f);
        }
        lab_link_put(link, at, f);
    } else {
        s->unlinked++;
        sw_frame_give(&s->lab->pool, f);
    }
}

int64_t lab_add_switch(lab *l)
{
    lab_switch *s = calloc(1, sizeof *s);
    int64_t node = s ? lab_add_node(l, &s->actor, LAB_SWITCH, s) : LAB_ERR_MEMORY;
    if (node < 0) {
        free(s);
        return node;
    }
    s->lab = l;
    return node;
}

void lab_switch_free(lab_switch *s)
{
    for (uint32_t port = 0; port < LAB_PORTS; port++)
        free(s->red[port]);
    lab_depth_free(s->depths);
    free(s);
}

void lab_switch_reschedule(const lab_switch *s)
{
    uint64_t due = s->engine ? s->api->next_due(s->engine) : LAB_NEVER;
    lab_schedule(s->lab, s->actor.number, due);
}

static void attach_pfc(const lab_switch *s)
{
    for (uint32_t port = 0; port < LAB_PORTS; port++)
        if (s->pfc[port])
            lab_pfc_attach(s->pfc[port]);
}

int64_t lab_set_engine(lab *l, uint32_t node, const sw_sim_api *api, sw_engine *e)
{
    lab_switch *s = lab_switch_of(l, node);
    if (!s)
        return LAB_ERR_NODE;
    if (s->engine)
        s->api->set_pauser(s->engine, NULL, NULL);
    s->api = api;
    s->engine = e;
    s->listens = false;
    if (!e) {
        lab_schedule(l, s->actor.number, LAB_NEVER);
        attach_pfc(s);
        lab_depth_look(s, l->now);
        return 0;
    }
    s->waiting_events = api->waiting_events(e);
    api->attach(e, &l->pool, switch_sink, s);
    api->set_now(e, l->now);
    for (uint32_t port = 0; port < LAB_PORTS; port++)
        if (s->links[port])
            api->set_link(e, port, s->links[port]->up);
    attach_pfc(s);
    lab_depth_look(s, l->now);
    lab_switch_reschedule(s);
    return 0;
}

int64_t lab_listen(lab *l, uint32_t node, bool listens)
{
    lab_switch *s = lab_switch_of(l, node);
    if (!s)
        return LAB_ERR_NODE;
    s->listens = listens;
    return 0;
}

bool lab_has_event(const lab *l, uint32_t node)
{
    const lab_switch *s = lab_switch_of(l, node);
    return s && s->engine && *s->waiting_events;
}

void lab_switch_arrive(lab_switch *s, uint64_t now, uint32_t port, sw_frame *f)
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
    lab_depth_look(s, now);
    l->stopped |= s->listens && *s->waiting_events;
}

void lab_switch_act(lab_switch *s)
{
    lab *l = s->lab;
    lab_schedule(l, s->actor.number, s->api->run_until(s->engine, l->now));
    lab_depth_look(s, l->now);
    l->stopped |= s->listens && *s->waiting_events;
}

uint64_t lab_switch_unlinked(const lab *l, uint32_t node)
{
    const lab_switch *s = lab_switch_of(l, node);
    return s ? s->unlinked : 0;
}

uint64_t lab_switch_off_drops(const lab *l, uint32_t node)
{
    const lab_switch *s = lab_switch_of(l, node);
    return s ? s->off_drops : 0;
}
