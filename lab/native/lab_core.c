#include "lab_core.h"

#include <stdlib.h>

#define FETCHED 192u /* octets */
#define WAYS 4u /* below a place of the tree: a cache line of them */

/* Who acts, and when. */

/* At the same time the lower number, which is the left, is first. Both are at hand, and nothing
 * foretells which it is: no branch. */
static lab_due earlier(lab_due left, lab_due right)
{
    bool is_right = right.at < left.at;
    return (lab_due){is_right ? right.at : left.at, is_right ? right.number : left.number};
}

/* Of what is below a place of the tree. */
static lab_due first_below(const lab *l, uint32_t i)
{
    const lab_due *of = &l->tree[WAYS * i];
    return earlier(earlier(of[0], of[1]), earlier(of[2], of[3]));
}

static bool grow_tree(lab *l)
{
    uint32_t leaves = l->leaves ? l->leaves * WAYS : 64;
    lab_due *tree = aligned_alloc(WAYS * sizeof *tree, 2 * (size_t)leaves * sizeof *tree);
    lab_actor **actors = realloc(l->actors, leaves * sizeof(lab_actor *));
    if (actors)
        l->actors = actors;
    lab_uses *uses = realloc(l->uses, leaves * sizeof *uses);
    if (uses)
        l->uses = uses;
    if (!tree || !actors || !uses) {
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
    l->uses[l->n_actors] = (lab_uses){NULL, NULL, NULL, 0};
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

/* The compiler drops calls of a function that does nothing else, hence the attribute. */
static inline __attribute__((always_inline)) void fetch(const void *at, size_t octets)
{
    for (size_t i = 0; i < octets; i += 64)
        __builtin_prefetch((const uint8_t *)at + i, 1);
}

/* Who acts soon is in no cache, as a rule, nor is what it uses. */
static inline __attribute__((always_inline)) void fetch_actor(const lab *l, uint32_t number)
{
    const lab_uses *uses = &l->uses[number];
    fetch(l->actors[number], FETCHED);
    if (!uses->pair)
        return;
    fetch(uses->role, FETCHED);
    fetch(uses->out, FETCHED);
    fetch(uses->pair, uses->pair_octets);
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
        if (i / WAYS && i / WAYS < WAYS && first.number != l->tree[i].number)
            fetch_actor(l, first.number); /* the first of a quarter of all, or of a quarter of one */
        l->tree[i] = first;
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
