/* Tables, and the cells of counters, meters and registers. */
#include "sw_ctl.h"

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
    sw_idle_watch(e, a->timeout_ns);
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
    bool found = n && n->meter;
    if (found)
        set_meter(n->meter, set, rates);
    sw_unlock(e);
    return found ? 0 : SW_ERR_NOT_FOUND;
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
