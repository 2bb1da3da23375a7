/* The run: everybody acts in turn. */
#include <float.h>
#include <stdlib.h>

#include "lab_job.h"
#include "lab_pfc.h"
#include "lab_tcp.h"

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
        free(l->links[i]->impairment);
        free(l->links[i]);
    }
    for (uint32_t i = 0; i < l->n_nodes; i++) {
        if (l->nodes[i]->kind == LAB_HOST)
            lab_host_free(l->nodes[i]->thing);
        else
            lab_switch_free(l->nodes[i]->thing);
    }
    lab_job_free(l);
    lab_tcp_free(l);
    sw_pool_release(&l->pool);
    free(l->tree);
    free(l->actors);
    free(l->uses);
    free(l->nodes);
    free(l->links);
    free(l->tapped);
    free(l->completions.records);
    free(l->notices.records);
    free(l->pauses.records);
    free(l);
}

static void act(lab *l, const lab_actor *a)
{
    if (a->kind == LAB_LINK) {
        lab_link_act(a->thing);
    } else if (a->kind == LAB_SWITCH) {
        lab_switch_act(a->thing);
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
    return l->leaves ? l->tree[1].at : LAB_NEVER;
}

uint64_t lab_run(lab *l, uint64_t until)
{
    refresh(l);
    while (l->leaves && !l->stopped) {
        lab_due first = l->tree[1];
        if (first.at > until)
            break;
        if (first.at > l->now)
            l->now = first.at;
        act(l, l->actors[first.number]);
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

/* What hosts noted. */

size_t lab_completions(const lab *l) { return l->completions.n; }

size_t lab_take_completions(lab *l, lab_completion *out, size_t n)
{
    return lab_list_take(&l->completions, out, n);
}

void lab_keep_notices(lab *l, size_t most) { l->notices.most = most; }
size_t lab_notices(const lab *l) { return l->notices.n; }
uint64_t lab_notices_lost(const lab *l) { return l->notices.lost; }

size_t lab_take_notices(lab *l, lab_notice *out, size_t n)
{
    return lab_list_take(&l->notices, out, n);
}
