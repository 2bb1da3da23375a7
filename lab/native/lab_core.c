#include "lab_core.h"

#include <stdlib.h>

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

uint64_t lab_now(const lab *l) { return l->now; }
bool lab_stopped(const lab *l) { return l->stopped; }

void lab_meet(lab *l, uint64_t number, lab_meeting *meet)
{
    l->meet_at = number;
    l->meet = meet;
}

uint64_t lab_hops(const lab *l) { return l->hops; }
uint64_t lab_frames_in_use(const lab *l) { return l->pool.in_use; }
