#include "lab_core.h"

#include <stdlib.h>

/* Who acts, and when. */

/* Of what is below a place of the tree. At the same time the lower number, which is the left, is first. */
static lab_due first_below(const lab *l, uint32_t i)
{
    lab_due left = l->tree[2 * i], right = l->tree[2 * i + 1];
    return right.at < left.at ? right : left;
}

static bool grow_tree(lab *l)
{
    uint32_t leaves = l->leaves ? l->leaves * 2 : 64;
    lab_due *tree = malloc(2 * (size_t)leaves * sizeof *tree);
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
    for (uint32_t i = leaves; i-- > 1;)
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
    while (i /= 2) {
        lab_due first = first_below(l, i);
        if (first.number == l->tree[i].number && first.at == l->tree[i].at)
            break;
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
