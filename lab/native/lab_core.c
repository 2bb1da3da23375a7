#include "lab_core.h"

#include "lab_pfc.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* On an x87 results would have more bits than a double, and other digests than elsewhere. */
_Static_assert(FLT_EVAL_METHOD == 0, "compile for arithmetic in the precision of its types");

lab *lab_new(uint64_t seed, uint16_t fast_cnp_port)
{
    lab *l = calloc(1, sizeof *l);
    if (l) {
        l->seed = seed;
        l->fast_cnp_port = fast_cnp_port;
        l->completions = (lab_list){.size = sizeof(lab_completion), .most = SIZE_MAX};
        l->notices = (lab_list){.size = sizeof(lab_notice)};
        l->pauses = (lab_list){.size = sizeof(lab_pause)};
        l->digest = seed;
    }
    return l;
}

void lab_free(lab *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->n_actors; i++)
        if (l->actors[i]->kind == LAB_PFC)
            free(l->actors[i]->thing);
    for (uint32_t i = 0; i < l->n_links; i++) {
        free(l->links[i]->ring);
        free(l->links[i]);
    }
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        if (l->nodes[i]->kind == LAB_HOST)
            lab_host_free(l->nodes[i]->thing);
        else
            free(l->nodes[i]->thing);
    }
    sw_pool_release(&l->pool);
    free(l->due);
    free(l->tree);
    free(l->actors);
    free(l->nodes);
    free(l->links);
    free(l->tapped);
    free(l->completions.records);
    free(l->notices.records);
    free(l->pauses.records);
    free(l);
}

/* Who acts, and when. */

static uint32_t first_of(const lab *l, uint32_t a, uint32_t b)
{
    /* `a` has the lower number: it wins a tie. */
    return l->due[b] < l->due[a] ? b : a;
}

static bool grow_tree(lab *l)
{
    uint32_t leaves = l->leaves ? l->leaves * 2 : 64;
    uint64_t *due = realloc(l->due, leaves * sizeof *due);
    if (due)
        l->due = due;
    uint32_t *tree = realloc(l->tree, 2 * (size_t)leaves * sizeof *tree);
    if (tree)
        l->tree = tree;
    lab_actor **actors = realloc(l->actors, leaves * sizeof(lab_actor *));
    if (actors)
        l->actors = actors;
    if (!due || !tree || !actors)
        return false;
    for (uint32_t i = l->leaves; i < leaves; i++)
        due[i] = LAB_NEVER;
    for (uint32_t i = 0; i < leaves; i++)
        tree[leaves + i] = i;
    for (uint32_t i = leaves; i-- > 1;)
        tree[i] = first_of(l, tree[2 * i], tree[2 * i + 1]);
    l->leaves = leaves;
    return true;
}

bool lab_add_actor(lab *l, lab_actor *a, enum lab_kind kind, void *thing)
{
    if (l->n_actors == l->leaves && !grow_tree(l))
        return false;
    *a = (lab_actor){kind, l->n_actors, thing};
    l->actors[l->n_actors++] = a;
    return true;
}

int64_t lab_add_node(lab *l, lab_actor *a, enum lab_kind kind, void *thing)
{
    lab_actor **nodes = realloc(l->nodes, (l->n_nodes + 1) * sizeof(lab_actor *));
    if (nodes)
        l->nodes = nodes;
    if (!nodes || !lab_add_actor(l, a, kind, thing))
        return LAB_ERR_MEMORY;
    nodes[l->n_nodes] = a;
    return l->n_nodes++;
}

void lab_schedule(lab *l, uint32_t number, uint64_t due)
{
    if (l->due[number] == due)
        return;
    l->due[number] = due;
    for (uint32_t i = (l->leaves + number) / 2; i; i /= 2) {
        uint32_t first = first_of(l, l->tree[2 * i], l->tree[2 * i + 1]);
        if (first == l->tree[i] && first != number)
            break;
        l->tree[i] = first;
    }
}

/* Switches. */

static void switch_sink(void *context, uint32_t port, uint64_t at, sw_frame *f)
{
    lab_switch *s = context;
    lab_link *link = port < LAB_PORTS ? s->links[port] : NULL;
    if (link) {
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

lab_switch *lab_switch_of(const lab *l, uint32_t node)
{
    bool is = node < l->n_nodes && l->nodes[node]->kind == LAB_SWITCH;
    return is ? l->nodes[node]->thing : NULL;
}

lab_host *lab_host_of(const lab *l, uint32_t node)
{
    bool is = node < l->n_nodes && l->nodes[node]->kind == LAB_HOST;
    return is ? l->nodes[node]->thing : NULL;
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
    if (!e) {
        lab_schedule(l, s->actor.number, LAB_NEVER);
        attach_pfc(s);
        return 0;
    }
    s->waiting_events = api->waiting_events(e);
    api->attach(e, &l->pool, switch_sink, s);
    api->set_now(e, l->now);
    for (uint32_t port = 0; port < LAB_PORTS; port++)
        if (s->links[port])
            api->set_link(e, port, s->links[port]->up);
    attach_pfc(s);
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

/* The run. */

static void act(lab *l, const lab_actor *a)
{
    if (a->kind == LAB_LINK) {
        lab_link_act(a->thing);
    } else if (a->kind == LAB_SWITCH) {
        lab_switch *s = a->thing;
        lab_schedule(l, a->number, s->api->run_until(s->engine, l->now));
        l->stopped |= s->listens && *s->waiting_events;
    } else if (a->kind == LAB_HOST) {
        lab_host_act(a->thing, l->now);
    } else {
        lab_pfc_act(a->thing, l->now);
    }
}

/* The control plane may have given a switch something to do. */
static void refresh(lab *l)
{
    l->stopped = false;
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        const lab_switch *s = lab_switch_of(l, i);
        if (!s || !s->engine)
            continue;
        lab_schedule(l, s->actor.number, s->api->next_due(s->engine));
        l->stopped |= s->listens && *s->waiting_events;
    }
}

uint64_t lab_next_due(lab *l)
{
    refresh(l);
    return l->leaves ? l->due[l->tree[1]] : LAB_NEVER;
}

uint64_t lab_run(lab *l, uint64_t until)
{
    refresh(l);
    while (l->leaves && !l->stopped) {
        uint32_t first = l->tree[1];
        uint64_t due = l->due[first];
        if (due > until)
            break;
        if (due > l->now)
            l->now = due;
        act(l, l->actors[first]);
        l->acts++;
    }
    if (!l->stopped && until > l->now)
        l->now = until;
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        const lab_switch *s = lab_switch_of(l, i);
        if (s && s->engine)
            s->api->set_now(s->engine, l->now);
    }
    return l->now;
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

uint64_t lab_now(const lab *l) { return l->now; }
bool lab_stopped(const lab *l) { return l->stopped; }
uint64_t lab_hops(const lab *l) { return l->hops; }
uint64_t lab_frames_in_use(const lab *l) { return l->pool.in_use; }
