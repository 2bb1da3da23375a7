/* Action profiles, packet replication and port settings. */
#include <stdlib.h>

#include "sw_ctl.h"
#include "sw_port.h"

/* Room for slot `i`; false when memory is short. */
static bool reserve(void ***all, uint32_t *n, uint32_t i)
{
    if (i < *n)
        return true;
    uint32_t size = (i + 1) * 2;
    void **more = realloc(*all, size * sizeof *more);
    if (!more)
        return false;
    memset(more + *n, 0, (size - *n) * sizeof *more);
    *all = more;
    *n = size;
    return true;
}

static int64_t member_set(sw_engine *e, uint32_t slot, uint32_t action, const uint8_t *args,
                          uint32_t n_args)
{
    if (action >= prog->n_actions)
        return SW_ERR_ACTION;
    uint32_t size = prog->action_data[action];
    void *data = NULL;
    if (!reserve((void ***)&e->members, &e->n_members, slot) ||
        posix_memalign(&data, 16, size ? size : 16))
        return SW_ERR_MEMORY;
    if (!sw_pack(action, args, n_args, data)) {
        free(data);
        return SW_ERR_ACTION;
    }
    sw_member *m = e->members[slot];
    if (!m)
        m = e->members[slot] = calloc(1, sizeof *m);
    if (!m) {
        free(data);
        return SW_ERR_MEMORY;
    }
    free(m->data);
    *m = (sw_member){action, slot, data};
    return 0;
}

int64_t sw_ctl_member_set(sw_engine *e, uint32_t slot, uint32_t action, const uint8_t *args,
                          uint32_t n_args)
{
    sw_lock(e);
    int64_t r = member_set(e, slot, action, args, n_args);
    sw_unlock(e);
    return r;
}

int64_t sw_ctl_member_drop(sw_engine *e, uint32_t slot)
{
    sw_lock(e);
    sw_member *m = slot < e->n_members ? e->members[slot] : NULL;
    if (m) {
        free(m->data);
        free(m);
        e->members[slot] = NULL;
    }
    sw_unlock(e);
    return m ? 0 : SW_ERR_NOT_FOUND;
}

static int64_t group_set(sw_engine *e, uint32_t slot, uint32_t n, const uint32_t *members)
{
    sw_member **list = malloc((n ? n : 1) * sizeof *list);
    if (!list || !reserve((void ***)&e->groups, &e->n_groups, slot)) {
        free(list);
        return SW_ERR_MEMORY;
    }
    sw_group *g = e->groups[slot];
    if (!g)
        g = e->groups[slot] = calloc(1, sizeof *g);
    bool found = g != NULL;
    for (uint32_t i = 0; found && i < n; i++) {
        list[i] = members[i] < e->n_members ? e->members[members[i]] : NULL;
        found = list[i] != NULL;
    }
    if (!found) {
        free(list);
        return SW_ERR_NOT_FOUND;
    }
    free(g->members);
    *g = (sw_group){slot, n, list};
    return 0;
}

int64_t sw_ctl_group_set(sw_engine *e, uint32_t slot, uint32_t n, const uint32_t *members)
{
    sw_lock(e);
    int64_t r = group_set(e, slot, n, members);
    sw_unlock(e);
    return r;
}

int64_t sw_ctl_group_drop(sw_engine *e, uint32_t slot)
{
    sw_lock(e);
    sw_group *g = slot < e->n_groups ? e->groups[slot] : NULL;
    if (g) {
        free(g->members);
        free(g);
        e->groups[slot] = NULL;
    }
    sw_unlock(e);
    return g ? 0 : SW_ERR_NOT_FOUND;
}

static sw_replica *make_replicas(uint32_t n, const uint32_t *ports, const uint32_t *instances)
{
    sw_replica *r = malloc((n ? n : 1) * sizeof *r);
    for (uint32_t i = 0; r && i < n; i++)
        r[i] = (sw_replica){ports[i], instances[i]};
    return r;
}

static void session_drop(sw_engine *e, uint32_t id)
{
    if (e->sessions[id])
        free(e->sessions[id]->replicas);
    free(e->sessions[id]);
    e->sessions[id] = NULL;
}

int64_t sw_ctl_session_set(sw_engine *e, uint32_t id, uint32_t n, const uint32_t *ports,
                           const uint32_t *instances, uint32_t class_of_service,
                           uint32_t truncate)
{
    if (id >= SW_SESSIONS)
        return SW_ERR_INDEX;
    sw_session *s = malloc(sizeof *s);
    sw_replica *r = make_replicas(n, ports, instances);
    if (!s || !r) {
        free(s);
        free(r);
        return SW_ERR_MEMORY;
    }
    *s = (sw_session){n, class_of_service, truncate, r};
    sw_lock(e);
    session_drop(e, id);
    e->sessions[id] = s;
    sw_unlock(e);
    return 0;
}

int64_t sw_ctl_session_drop(sw_engine *e, uint32_t id)
{
    if (id >= SW_SESSIONS)
        return SW_ERR_INDEX;
    sw_lock(e);
    bool found = e->sessions[id] != NULL;
    session_drop(e, id);
    sw_unlock(e);
    return found ? 0 : SW_ERR_NOT_FOUND;
}

static bool mgroup_drop(sw_engine *e, uint32_t id)
{
    for (sw_mgroup **p = &e->mgroups[id & 255]; *p; p = &(*p)->next)
        if ((*p)->id == id) {
            sw_mgroup *g = *p;
            *p = g->next;
            free(g->replicas);
            free(g);
            return true;
        }
    return false;
}

int64_t sw_ctl_mgroup_set(sw_engine *e, uint32_t id, uint32_t n, const uint32_t *ports,
                          const uint32_t *instances)
{
    sw_mgroup *g = malloc(sizeof *g);
    sw_replica *r = make_replicas(n, ports, instances);
    if (!g || !r) {
        free(g);
        free(r);
        return SW_ERR_MEMORY;
    }
    sw_lock(e);
    mgroup_drop(e, id);
    *g = (sw_mgroup){e->mgroups[id & 255], id, n, r};
    e->mgroups[id & 255] = g;
    sw_unlock(e);
    return 0;
}

int64_t sw_ctl_mgroup_drop(sw_engine *e, uint32_t id)
{
    sw_lock(e);
    bool found = mgroup_drop(e, id);
    sw_unlock(e);
    return found ? 0 : SW_ERR_NOT_FOUND;
}

int64_t sw_ctl_port_queue(sw_engine *e, uint32_t port, uint32_t depth, uint64_t rate_pps,
                          uint64_t rate_bps, uint64_t delay_ns)
{
    if (port >= SW_PORTS)
        return SW_ERR_INDEX;
    sw_lock(e);
    sw_catch_up(e);
    sw_port *p = &e->ports[port];
    if (depth != UINT32_MAX)
        p->depth = depth;
    p->rate_pps = rate_pps;
    p->line.rate_bps = rate_bps;
    p->delay_ns = delay_ns;
    sw_unlock(e);
    sw_wake(e);
    return 0;
}

/* The most packets that waited at once in the last second or two: whoever asks once a second misses
 * none, however many ask. What was while nobody asked is not told. */
static uint32_t recent_peak(sw_port *p, uint64_t now_ns)
{
    const uint64_t second = 1000000000u;
    uint64_t passed = now_ns - p->peak_ns;
    if (passed >= second) {
        p->peak_before = passed < 4 * second ? p->peak : p->queued;
        p->peak = p->queued;
        p->peak_ns = now_ns;
    }
    return p->peak > p->peak_before ? p->peak : p->peak_before;
}

int64_t sw_ctl_port_stats(sw_engine *e, uint32_t port, sw_port_stats *out)
{
    if (port >= SW_PORTS)
        return SW_ERR_INDEX;
    sw_lock(e);
    sw_catch_up(e);
    sw_port *p = &e->ports[port];
    *out = (sw_port_stats){p->rx_packets, p->rx_octets,  p->tx_packets, p->tx_octets,
                           p->queue_drops, p->queued, recent_peak(p, e->now_ns), p->queued_octets,
                           p->peak_octets};
    sw_unlock(e);
    return 0;
}

bool sw_ctl_port_up(sw_engine *e, uint32_t port)
{
    if (port >= SW_PORTS)
        return false;
    sw_lock(e);
    bool up = e->ports[port].up;
    sw_unlock(e);
    return up;
}

void sw_ctl_stats(sw_engine *e, sw_engine_stats *out)
{
    sw_lock(e);
    for (uint32_t i = 0; i < SW_PORTS; i++)
        if (e->ports[i].netif)
            e->rx_ring_drops += sw_netif_lost(e->ports[i].netif);
    *out = (sw_engine_stats){
        .lost_events = e->lost_events,
        .oversize_drops = e->oversize_drops,
        .input_drops = e->input_drops,
        .growth_drops = e->growth_drops,
        .loop_drops = e->loop_drops,
        .gso_drops = e->gso_drops,
        .no_memory_drops = e->no_memory_drops,
        .failed_assertions = e->failed_assertions,
        .tx_errors = e->tx_errors,
        .rx_ring_drops = e->rx_ring_drops,
        .capture_drops = e->capture_drops,
    };
    sw_unlock(e);
}
