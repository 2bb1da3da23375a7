#include "sw_ctl.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_DEPTH 64u /* packets, as in simple_switch */
#define IDLE_MIN_NS 10000000u
#define IDLE_MAX_NS 1000000000u
/* For each entry with a timeout: all of them together are told again 10,000 times a second at most. */
#define IDLE_AGAIN_NS 100000u

uint64_t sw_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sw_lock(sw_engine *e)
{
    __atomic_add_fetch(&e->waiters, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&e->lock);
    __atomic_sub_fetch(&e->waiters, 1, __ATOMIC_RELAXED);
}

void sw_unlock(sw_engine *e) { pthread_mutex_unlock(&e->lock); }

void sw_catch_up(sw_engine *e)
{
    if (!e->memory)
        sw_run_until(e, sw_clock_ns() - e->start_ns);
}

void sw_ctl_seed(sw_engine *e, uint64_t seed)
{
    sw_lock(e);
    e->random = sw_random_seed(seed);
    sw_unlock(e);
}

static void *zeroed(size_t n, size_t size) { return calloc(n ? n : 1, size); }

sw_engine *sw_engine_new(uint32_t cpu_port, uint32_t drop_port, uint32_t queues, bool memory,
                         int event_fd)
{
    sw_engine *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    sw_hash_init();
    pthread_mutex_init(&e->lock, NULL);
    e->cpu_port = cpu_port;
    e->drop_port = drop_port;
    e->n_queues = queues < SW_QUEUES ? queues : SW_QUEUES;
    e->memory = memory;
    e->pool = &e->own_pool;
    e->event_fd = event_fd;
    e->start_ns = memory ? 0 : sw_clock_ns();
    e->random = sw_random_seed(memory ? 0 : sw_clock_ns());
    e->next_idle_ns = UINT64_MAX;
    for (uint32_t i = 0; i < SW_PORTS; i++)
        e->ports[i].depth = DEFAULT_DEPTH;
    e->tables = zeroed(prog->n_tables, sizeof *e->tables);
    e->counters = zeroed(prog->n_counters, sizeof *e->counters);
    e->meters = zeroed(prog->n_meters, sizeof *e->meters);
    e->registers = zeroed(prog->n_registers, sizeof *e->registers);
    e->events = malloc(SW_EVENT_BUFFER);
    bool ok = e->tables && e->counters && e->meters && e->registers && e->events;
    for (uint32_t i = 0; ok && i < prog->n_tables; i++) {
        sw_table_init(&e->tables[i], &prog->tables[i]);
        ok = e->tables[i].default_entry != NULL;
    }
    for (uint32_t i = 0; ok && i < prog->n_counters; i++)
        ok = (e->counters[i] = zeroed(prog->counter_sizes[i], sizeof(sw_counter))) != NULL;
    for (uint32_t i = 0; ok && i < prog->n_meters; i++) {
        ok = (e->meters[i] = zeroed(prog->meter_sizes[i], sizeof(sw_meter))) != NULL;
        for (uint32_t k = 0; ok && k < prog->meter_sizes[i]; k++)
            e->meters[i][k].bytes = prog->meter_bytes[i];
    }
    for (uint32_t i = 0; ok && i < prog->n_registers; i++)
        ok = (e->registers[i] = zeroed(prog->register_sizes[i], prog->register_cells[i])) != NULL;
    if (!ok) {
        sw_engine_free(e);
        return NULL;
    }
    return e;
}

static void free_fifo(sw_engine *e, sw_fifo *f)
{
    for (sw_pkt *p = f->first, *next; p; p = next) {
        next = p->next;
        sw_pkt_end(e, p, SW_REPLACED);
    }
}

void sw_engine_free(sw_engine *e)
{
    if (!e)
        return;
    sw_ctl_stop(e);
    for (uint32_t i = 0; i < SW_PORTS; i++) {
        sw_ctl_port_detach(e, i);
        for (unsigned q = 0; q < SW_QUEUES; q++) {
            free_fifo(e, &e->ports[i].queues[q]);
            free_fifo(e, &e->ports[i].rounds[q]);
        }
        free_fifo(e, &e->ports[i].wire);
    }
    free_fifo(e, &e->input);
    for (sw_pkt *p = e->free_pkts, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    sw_pool_release(&e->own_pool);
    for (uint32_t i = 0; e->tables && i < prog->n_tables; i++)
        sw_table_free(&e->tables[i]);
    for (uint32_t i = 0; e->counters && i < prog->n_counters; i++)
        free(e->counters[i]);
    for (uint32_t i = 0; e->meters && i < prog->n_meters; i++)
        free(e->meters[i]);
    for (uint32_t i = 0; e->registers && i < prog->n_registers; i++)
        free(e->registers[i]);
    for (uint32_t i = 0; i < e->n_groups; i++)
        sw_ctl_group_drop(e, i);
    for (uint32_t i = 0; i < e->n_members; i++)
        sw_ctl_member_drop(e, i);
    for (uint32_t i = 0; i < SW_SESSIONS; i++)
        sw_ctl_session_drop(e, i);
    for (uint32_t i = 0; i < 256; i++)
        while (e->mgroups[i])
            sw_ctl_mgroup_drop(e, e->mgroups[i]->id);
    for (uint32_t i = 0; i < SW_PORTS; i++)
        free(e->ports[i].ingress);
    free(e->tables);
    free(e->counters);
    free(e->meters);
    free(e->registers);
    free(e->members);
    free(e->groups);
    free(e->events);
    free(e->out);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void sw_ctl_inject(sw_engine *e, uint32_t port, const uint8_t *data, uint32_t len)
{
    sw_lock(e);
    sw_catch_up(e);
    sw_receive(e, port, data, len);
    sw_unlock(e);
    sw_wake(e);
}

void sw_ctl_advance(sw_engine *e, uint64_t ns)
{
    sw_lock(e);
    sw_run_until(e, e->now_ns + ns);
    sw_unlock(e);
}

uint64_t sw_ctl_now(sw_engine *e)
{
    sw_lock(e);
    sw_catch_up(e);
    uint64_t now = e->now_ns;
    sw_unlock(e);
    return now;
}

uint64_t sw_ctl_next_due(sw_engine *e)
{
    sw_lock(e);
    uint64_t due = sw_next_due(e);
    sw_unlock(e);
    return due;
}

/* All of src, or nothing when dst is too small. */
static size_t take(uint8_t *dst, size_t cap, const uint8_t *src, size_t size)
{
    if (size > cap || !size)
        return 0;
    memcpy(dst, src, size);
    return size;
}

size_t sw_ctl_out_size(sw_engine *e)
{
    sw_lock(e);
    size_t n = e->out_size;
    sw_unlock(e);
    return n;
}

size_t sw_ctl_out_take(sw_engine *e, uint8_t *dst, size_t cap)
{
    sw_lock(e);
    size_t n = take(dst, cap, e->out, e->out_size);
    if (n)
        e->out_size = 0;
    sw_unlock(e);
    return n;
}

size_t sw_ctl_events_size(sw_engine *e)
{
    sw_lock(e);
    size_t n = e->events_size;
    sw_unlock(e);
    return n;
}

size_t sw_ctl_events_take(sw_engine *e, uint8_t *dst, size_t cap)
{
    sw_lock(e);
    size_t n = take(dst, cap, e->events, e->events_size);
    if (n)
        e->events_size = 0;
    sw_unlock(e);
    return n;
}

void sw_emit_event(sw_engine *e, unsigned kind, unsigned id, uint64_t arg, const void *data,
                   uint32_t size)
{
    size_t need = sizeof(sw_event) + ((size + 7u) & ~7u);
    if (e->events_size + need > SW_EVENT_BUFFER) {
        e->lost_events++;
        return;
    }
    sw_event h = {size, (uint16_t)kind, (uint16_t)id, arg};
    memcpy(e->events + e->events_size, &h, sizeof h);
    if (size)
        memcpy(e->events + e->events_size + sizeof h, data, size);
    bool first = e->events_size == 0;
    e->events_size += (uint32_t)need;
    uint64_t one = 1;
    if (first && e->event_fd >= 0 && write(e->event_fd, &one, 8) != 8)
        e->lost_events++;
}

/* Tables. */

static uint64_t idle_period(uint64_t timeout)
{
    uint64_t p = timeout / 10;
    return p < IDLE_MIN_NS ? IDLE_MIN_NS : p > IDLE_MAX_NS ? IDLE_MAX_NS : p;
}

/* P4Runtime 1.4, Table Idle Timeout Notification: telling it resets the timer. */
static bool idle_is_due(const sw_engine *e, const sw_entry *n)
{
    if (n->idle_told_ns <= n->last_hit_ns)
        return e->now_ns - n->last_hit_ns >= n->timeout_ns;
    uint64_t again = n->timeout_ns > e->idle_again_ns ? n->timeout_ns : e->idle_again_ns;
    return e->now_ns - n->idle_told_ns >= again;
}

void sw_idle_scan(sw_engine *e)
{
    uint64_t period = UINT64_MAX, again = 0;
    for (uint32_t t = 0; t < prog->n_tables; t++) {
        if (!prog->tables[t].timeout)
            continue;
        const sw_table *table = &e->tables[t];
        for (uint32_t h = 0; h < table->n_handles; h++) {
            sw_entry *n = table->handles[h];
            if (!n || !n->timeout_ns)
                continue;
            uint64_t p = idle_period(n->timeout_ns);
            period = p < period ? p : period;
            again += IDLE_AGAIN_NS;
            if (idle_is_due(e, n)) {
                n->idle_told_ns = e->now_ns;
                sw_emit_event(e, SW_EV_IDLE, t, h, NULL, 0);
            }
        }
    }
    e->idle_again_ns = again;
    e->next_idle_ns = period == UINT64_MAX ? period : e->now_ns + period;
}

static int64_t set_action(sw_engine *e, uint32_t table, sw_entry *n, const sw_action_ref *a)
{
    if (a->target == SW_ACTION && a->id == SW_NO_ACTION) {
        n->action = SW_NO_ACTION; /* an element of a value set */
    } else if (a->target == SW_ACTION) {
        if (a->id >= prog->n_actions || prog->action_data[a->id] > prog->tables[table].data_size ||
            !sw_pack(a->id, a->args, a->n_args, n->data))
            return SW_ERR_ACTION;
        n->action = a->id;
    } else if (a->target == SW_MEMBER) {
        if (a->id >= e->n_members || !e->members[a->id])
            return SW_ERR_NOT_FOUND;
        n->member = e->members[a->id];
    } else {
        if (a->id >= e->n_groups || !e->groups[a->id])
            return SW_ERR_NOT_FOUND;
        n->group = e->groups[a->id];
    }
    n->target = (uint8_t)a->target;
    n->timeout_ns = a->timeout_ns;
    /* It is told again when it is still idle; a change is no packet, so the time goes on. */
    n->idle_told_ns = 0;
    if (a->timeout_ns) {
        uint64_t next = e->now_ns + idle_period(a->timeout_ns);
        if (next < e->next_idle_ns)
            e->next_idle_ns = next;
    }
    return 0;
}

int64_t sw_ctl_table_add(sw_engine *e, uint32_t table, const uint64_t *key, const uint64_t *mask,
                         const uint64_t *high, uint32_t prefix_len, int32_t priority,
                         const sw_action_ref *a)
{
    int64_t r;
    sw_lock(e);
    sw_catch_up(e);
    sw_table *t = &e->tables[table];
    if (sw_table_has(t, key, mask, high, prefix_len, priority)) {
        r = SW_ERR_EXISTS;
    } else if (t->n_entries >= t->def->max_size) {
        r = SW_ERR_FULL;
    } else {
        sw_entry *n = sw_table_add(t, key, mask, high, prefix_len, priority);
        if (n)
            n->last_hit_ns = e->now_ns;
        r = n ? set_action(e, table, n, a) : SW_ERR_MEMORY;
        if (n && r)
            sw_table_remove(t, n->handle);
        else if (n)
            r = n->handle;
    }
    sw_wake_if_due(e);
    sw_unlock(e);
    return r;
}

/* The entry, NULL when there is none; UINT32_MAX names the default entry. */
static sw_entry *entry(sw_engine *e, uint32_t table, uint32_t handle)
{
    sw_table *t = &e->tables[table];
    return handle == UINT32_MAX ? t->default_entry : sw_table_entry(t, handle);
}

int64_t sw_ctl_table_modify(sw_engine *e, uint32_t table, uint32_t handle, const sw_action_ref *a)
{
    sw_lock(e);
    sw_catch_up(e);
    sw_entry *n = sw_table_entry(&e->tables[table], handle);
    int64_t r = n ? set_action(e, table, n, a) : SW_ERR_NOT_FOUND;
    sw_wake_if_due(e);
    sw_unlock(e);
    return r;
}

int64_t sw_ctl_table_delete(sw_engine *e, uint32_t table, uint32_t handle)
{
    sw_lock(e);
    int64_t r = sw_table_remove(&e->tables[table], handle) ? 0 : SW_ERR_NOT_FOUND;
    sw_unlock(e);
    return r;
}

int64_t sw_ctl_table_default(sw_engine *e, uint32_t table, const sw_action_ref *a)
{
    int64_t r = 0;
    sw_lock(e);
    sw_entry *n = e->tables[table].default_entry;
    if (a)
        r = set_action(e, table, n, a);
    else
        n->action = SW_NO_ACTION;
    sw_unlock(e);
    return r;
}

int64_t sw_ctl_idle_ns(sw_engine *e, uint32_t table, uint32_t handle)
{
    sw_lock(e);
    sw_catch_up(e);
    const sw_entry *n = sw_table_entry(&e->tables[table], handle);
    int64_t r = n ? (int64_t)(e->now_ns - n->last_hit_ns) : SW_ERR_NOT_FOUND;
    sw_unlock(e);
    return r;
}

static void move_counter(sw_counter *c, bool write, uint64_t *packets, uint64_t *octets)
{
    if (write)
        *c = (sw_counter){*packets, *octets};
    *packets = c->packets;
    *octets = c->octets;
}

int64_t sw_ctl_direct_counter(sw_engine *e, uint32_t table, uint32_t handle, bool write,
                              uint64_t *packets, uint64_t *octets)
{
    sw_lock(e);
    sw_entry *n = entry(e, table, handle);
    if (n)
        move_counter(&n->counter, write, packets, octets);
    sw_unlock(e);
    return n ? 0 : SW_ERR_NOT_FOUND;
}

static void set_meter(sw_meter *m, bool set, const uint64_t *rates)
{
    *m = (sw_meter){.configured = set, .bytes = m->bytes};
    for (int i = 0; set && i < 2; i++) {
        m->rate[i] = (double)rates[2 * i] / 1000000.0;
        m->burst[i] = m->tokens[i] = rates[2 * i + 1];
    }
}

int64_t sw_ctl_direct_meter(sw_engine *e, uint32_t table, uint32_t handle, bool set,
                            const uint64_t *rates)
{
    sw_lock(e);
    sw_entry *n = entry(e, table, handle);
    if (n)
        set_meter(&n->meter, set, rates);
    sw_unlock(e);
    return n ? 0 : SW_ERR_NOT_FOUND;
}

int64_t sw_ctl_counter(sw_engine *e, uint32_t counter, uint32_t index, bool write,
                       uint64_t *packets, uint64_t *octets)
{
    if (counter >= prog->n_counters || index >= prog->counter_sizes[counter])
        return SW_ERR_INDEX;
    sw_lock(e);
    move_counter(&e->counters[counter][index], write, packets, octets);
    sw_unlock(e);
    return 0;
}

int64_t sw_ctl_meter(sw_engine *e, uint32_t meter, uint32_t index, bool set, const uint64_t *rates)
{
    if (meter >= prog->n_meters || index >= prog->meter_sizes[meter])
        return SW_ERR_INDEX;
    sw_lock(e);
    set_meter(&e->meters[meter][index], set, rates);
    sw_unlock(e);
    return 0;
}

int64_t sw_ctl_register(sw_engine *e, uint32_t reg, uint32_t index, bool write, uint8_t *value)
{
    if (reg >= prog->n_registers || index >= prog->register_sizes[reg])
        return SW_ERR_INDEX;
    uint32_t size = prog->register_cells[reg];
    uint8_t *cell = (uint8_t *)e->registers[reg] + (size_t)index * size;
    sw_lock(e);
    /* Cells are little-endian integers of the machine. */
    for (uint32_t i = 0; i < 16; i++) {
        if (write && i < size)
            cell[i] = value[15 - i];
        if (!write)
            value[15 - i] = i < size ? cell[i] : 0;
    }
    sw_unlock(e);
    return 0;
}
