/* An engine from its making to its end, and what it is given and gives back. */
#include <stdlib.h>

#include "sw_trace.h"

#define DEFAULT_DEPTH 64u /* packets, as in simple_switch */

static void *zeroed(size_t n, size_t size) { return calloc(n ? n : 1, size); }

sw_engine *sw_engine_new(uint32_t cpu_port, uint32_t drop_port, uint32_t queues, bool memory,
                         int event_fd)
{
    sw_engine *e = calloc(1, sizeof *e + prog->locals_size);
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
    SW_TRACE(sw_ctl_trace_stop(e));
    for (uint32_t i = 0; i < SW_PORTS; i++) {
        sw_ctl_port_detach(e, i);
        for (unsigned q = 0; q < SW_QUEUES; q++) {
            free_fifo(e, &e->ports[i].queues[q]);
            free_fifo(e, &e->ports[i].rounds[q]);
        }
        free_fifo(e, &e->ports[i].wire);
    }
    free_fifo(e, &e->input);
    sw_slab_release(e->pkt_slabs);
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

void sw_ctl_adopt(sw_engine *e)
{
    sw_lock(e);
    sw_hash_init();
    sw_unlock(e);
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

void sw_ctl_seed(sw_engine *e, uint64_t seed)
{
    sw_lock(e);
    e->random = sw_random_seed(seed);
    sw_unlock(e);
}
