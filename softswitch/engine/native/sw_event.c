/* What the control plane is to hear of. */
#include <unistd.h>

#include "sw_core.h"

#define IDLE_MIN_NS 10000000u
#define IDLE_MAX_NS 1000000000u
/* For each entry with a timeout: all of them together are told again 10,000 times a second at most. */
#define IDLE_AGAIN_NS 100000u

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

/* Entries of tables that no packet meets. */

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
    e->idle_put_off = false;
    e->idle_again_ns = again;
    e->next_idle_ns = period == UINT64_MAX ? period : e->now_ns + period;
}

/* Frames may wait at the interfaces if nobody had time to read them: only once they are met is an
 * entry idle. Once, so that on a machine that never has time it still is. */
void sw_idle_put_off(sw_engine *e, uint64_t now)
{
    if (e->idle_put_off || now < IDLE_MIN_NS || e->next_idle_ns > now - IDLE_MIN_NS)
        return;
    e->idle_put_off = true;
    e->next_idle_ns = now + IDLE_MIN_NS;
}

void sw_idle_watch(sw_engine *e, uint64_t timeout_ns)
{
    uint64_t next = timeout_ns ? e->now_ns + idle_period(timeout_ns) : UINT64_MAX;
    if (next < e->next_idle_ns)
        e->next_idle_ns = next;
}
