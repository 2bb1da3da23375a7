#include "lab_core.h"

#include <stdlib.h>

#define WAYS 4u /* below a place of the tree: a cache line of them */

/* Who acts, and when. */

/* Of what is below a place of the tree. At the same time the lower number, which is the left, is first. */
static lab_due first_below(const lab *l, uint32_t i)
{
    const lab_due *of = &l->tree[WAYS * i];
    uint32_t left = of[1].at < of[0].at, right = 2 + (of[3].at < of[2].at);
    uint32_t is_right = of[right].at < of[left].at;
    return of[left ^ ((left ^ right) & -is_right)]; /* no branch: nothing foretells it */
}

static bool grow_tree(lab *l)
{
    uint32_t leaves = l->leaves ? l->leaves * WAYS : 64;
    lab_due *tree = aligned_alloc(WAYS * sizeof *tree, 2 * (size_t)leaves * sizeof *tree);
    lab_actor **actors = realloc(l->actors, leaves * sizeof(lab_actor *));
    if (actors)
        l->actors = actors;
    if (!tree || !actors) {
        free(tree);
        return false;
    }
    for (uint32_t i = 0; i < leaves; i++)
        tree[leaves + i] = i < l->leaves ? l->tree[l->leaves + i] : (lab_due){LAB_NEVER, i};
    free(l->tree);
    l->tree = tree;
    l->leaves = leaves;
    for (uint32_t level = leaves / WAYS; level; level /= WAYS)
        for (uint32_t i = level; i < 2 * level; i++)
            tree[i] = first_below(l, i);
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
    uint32_t i = l->leaves + number;
    if (l->tree[i].at == due)
        return;
    l->tree[i].at = due;
    while (i /= WAYS) {
        lab_due first = first_below(l, i);
        if (first.number == l->tree[i].number && first.at == l->tree[i].at)
            break;
        l->tree[i] = first;
    }
    if (!i) { /* Who acts next is in no cache, as a rule. */
        const uint8_t *next = (const uint8_t *)l->actors[l->tree[1].number];
        __builtin_prefetch(next, 1);
        __builtin_prefetch(next + 64, 1);
    }
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

const uint64_t *lab_clock(const lab *l) { return &l->now; }
bool lab_stopped(const lab *l) { return l->stopped; }

void lab_meet(lab *l, uint64_t number, lab_meeting *meet)
{
    l->meet_at = number;
    l->meet = meet;
}

uint64_t lab_hops(const lab *l) { return l->hops; }
uint64_t lab_frames_in_use(const lab *l) { return l->pool.in_use; }
