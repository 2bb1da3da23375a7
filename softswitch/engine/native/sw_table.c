#include "sw_table.h"

#include <stdlib.h>

static bool map_put(sw_map *m, sw_entry *e);

static bool map_grow(sw_map *m, uint32_t bits)
{
    sw_map n = {calloc((size_t)1 << bits, sizeof(sw_slot)), bits, 0};
    if (!n.slots)
        return false;
    for (size_t i = 0; m->slots && i < (size_t)1 << m->bits; i++)
        if (m->slots[i].entry)
            map_put(&n, m->slots[i].entry);
    free(m->slots);
    *m = n;
    return true;
}

static bool map_put(sw_map *m, sw_entry *e)
{
    if (!m->slots && !map_grow(m, 4))
        return false;
    if (((uint64_t)m->used + 1) * 2 > 1ULL << m->bits && !map_grow(m, m->bits + 1))
        return false;
    uint32_t mask = (1u << m->bits) - 1, i = (uint32_t)e->hash & mask;
    while (m->slots[i].entry)
        i = (i + 1) & mask;
    m->slots[i] = (sw_slot){e->hash, e};
    m->used++;
    return true;
}

static void map_drop(sw_map *m, const sw_entry *e)
{
    uint32_t mask = (1u << m->bits) - 1, i = (uint32_t)e->hash & mask;
    while (m->slots[i].entry != e)
        i = (i + 1) & mask;
    m->used--;
    /* Close the gap: move back each follower that may not be found beyond a free slot. */
    for (uint32_t j = i;;) {
        m->slots[i].entry = NULL;
        for (;;) {
            j = (j + 1) & mask;
            if (!m->slots[j].entry)
                return;
            uint32_t home = (uint32_t)m->slots[j].hash & mask;
            if (((j - home) & mask) >= ((j - i) & mask))
                break;
        }
        m->slots[i] = m->slots[j];
        i = j;
    }
}

/* An entry of zeros with room for this many words of key, mask and high; NULL without memory. */
static sw_entry *make_entry(const sw_table_def *d, size_t words)
{
    size_t data = (offsetof(sw_entry, key) + words * 8 + 15) & ~(size_t)15;
    size_t meter = (data + d->data_size + 15) & ~(size_t)15;
    void *memory = NULL;
    if (posix_memalign(&memory, 64, meter + d->meter))
        return NULL;
    memset(memory, 0, meter + d->meter);
    sw_entry *e = memory;
    e->data = (uint8_t *)memory + data;
    if (d->meter) {
        e->meter = (sw_meter *)(void *)((uint8_t *)memory + meter);
        e->meter->bytes = d->meter_bytes;
    }
    return e;
}

void sw_table_init(sw_table *t, const sw_table_def *def)
{
    *t = (sw_table){.def = def, .default_entry = make_entry(def, 0)};
    if (t->default_entry)
        t->default_entry->action = SW_NO_ACTION;
}

void sw_table_free(sw_table *t)
{
    for (uint32_t i = 0; i < t->n_handles; i++)
        free(t->handles[i]);
    for (uint32_t i = 0; i < t->n_prefixes; i++) {
        free(t->prefixes[i].mask);
        free(t->prefixes[i].map.slots);
    }
    free(t->prefixes);
    free(t->sorted);
    free(t->firsts);
    free(t->handles);
    free(t->exact.slots);
    free(t->default_entry);
}

sw_entry *sw_table_entry(const sw_table *t, uint32_t handle)
{
    return handle < t->n_handles ? t->handles[handle] : NULL;
}

static sw_prefix *find_prefix(const sw_table *t, uint32_t len)
{
    for (uint32_t i = 0; i < t->n_prefixes; i++)
        if (t->prefixes[i].prefix_len == len)
            return &t->prefixes[i];
    return NULL;
}

static sw_prefix *make_prefix(sw_table *t, uint32_t len, const uint64_t *mask)
{
    sw_prefix *p = find_prefix(t, len);
    if (p)
        return p;
    size_t bytes = (size_t)t->def->words * 8;
    uint64_t *copy = malloc(bytes ? bytes : 8);
    sw_prefix *all = realloc(t->prefixes, (t->n_prefixes + 1) * sizeof *all);
    if (all)
        t->prefixes = all;
    if (!all || !copy) {
        free(copy);
        return NULL;
    }
    memcpy(copy, mask, bytes);
    uint32_t at = 0;
    while (at < t->n_prefixes && all[at].prefix_len > len)
        at++;
    memmove(all + at + 1, all + at, (t->n_prefixes - at) * sizeof *all);
    all[at] = (sw_prefix){.prefix_len = len, .mask = copy};
    t->n_prefixes++;
    return &all[at];
}

static void drop_prefix(sw_table *t, sw_prefix *p)
{
    uint32_t at = (uint32_t)(p - t->prefixes);
    free(p->mask);
    free(p->map.slots);
    memmove(p, p + 1, (t->n_prefixes - at - 1) * sizeof *p);
    t->n_prefixes--;
}

static bool better(const sw_entry *a, const sw_entry *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->handle < b->handle;
}

static bool sorted_put(sw_table *t, sw_entry *e)
{
    if (t->n_entries == t->sorted_cap) {
        uint32_t cap = t->sorted_cap ? t->sorted_cap * 2 : 16;
        sw_sorted *all = realloc(t->sorted, cap * sizeof *all);
        if (all)
            t->sorted = all;
        uint32_t *firsts = realloc(t->firsts, cap * 2 * sizeof *firsts);
        if (firsts)
            t->firsts = firsts;
        if (!all || !firsts)
            return false;
        t->sorted_cap = cap;
    }
    uint32_t lo = 0, hi = t->n_entries;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (better(t->sorted[mid].entry, e))
            lo = mid + 1;
        else
            hi = mid;
    }
    memmove(t->sorted + lo + 1, t->sorted + lo, (t->n_entries - lo) * sizeof *t->sorted);
    t->sorted[lo] = (sw_sorted){
        .mask = e->mask[0],
        .key = e->key[0] & e->mask[0],
        .low = sw_ranged(t->def, e->key),
        .high = sw_ranged(t->def, e->high),
        .entry = e,
    };
    t->indexed = false;
    return true;
}

void sw_table_index(sw_table *t)
{
    t->common = UINT64_MAX;
    for (uint32_t i = 0; i < t->n_entries; i++)
        t->common &= t->sorted[i].mask;
    t->first_mask = t->common ? t->sorted_cap * 2 - 1 : 0;
    for (uint32_t i = 0; i <= t->first_mask; i++)
        t->firsts[i] = SW_LAST;
    for (uint32_t i = t->n_entries; i-- > 0;) {
        uint32_t *first = sw_first(t, t->sorted[i].key);
        t->sorted[i].next = *first;
        *first = i;
    }
    t->indexed = true;
}

static void sorted_drop(sw_table *t, const sw_entry *e)
{
    uint32_t i = 0;
    while (t->sorted[i].entry != e)
        i++;
    memmove(t->sorted + i, t->sorted + i + 1, (t->n_entries - i - 1) * sizeof *t->sorted);
    t->indexed = false;
}

/* The lowest free handle, as simple_switch hands them out. */
static bool take_handle(sw_table *t, sw_entry *e)
{
    uint32_t i = t->free_from;
    while (i < t->n_handles && t->handles[i])
        i++;
    if (i == t->n_handles) {
        uint32_t n = t->n_handles ? t->n_handles * 2 : 16;
        sw_entry **all = realloc(t->handles, n * sizeof *all);
        if (!all)
            return false;
        memset(all + t->n_handles, 0, (n - t->n_handles) * sizeof *all);
        t->handles = all;
        t->n_handles = n;
    }
    e->handle = i;
    t->handles[i] = e;
    t->free_from = i + 1;
    return true;
}

sw_entry *sw_table_add(sw_table *t, const uint64_t *key, const uint64_t *mask,
                       const uint64_t *high, uint32_t prefix_len, int32_t priority)
{
    const sw_table_def *d = t->def;
    size_t words = d->words;
    t->has_last = false;
    size_t extra = d->match == SW_TERNARY ? 2 : 0;
    sw_entry *e = make_entry(d, (1 + extra) * words);
    if (!e)
        return NULL;
    memcpy(e->key, key, words * 8);
    if (d->match == SW_TERNARY) {
        e->mask = e->key + words;
        e->high = e->mask + words;
        memcpy(e->mask, mask, words * 8);
        memcpy(e->high, high, words * 8);
    }
    e->prefix_len = (uint16_t)prefix_len;
    e->priority = priority;
    e->hash = sw_key_hash(e->key, d->words);
    bool ok = take_handle(t, e);
    if (ok && d->match == SW_EXACT)
        ok = map_put(&t->exact, e);
    else if (ok && d->match == SW_LPM) {
        sw_prefix *p = make_prefix(t, prefix_len, mask);
        ok = p && map_put(&p->map, e);
    } else if (ok)
        ok = sorted_put(t, e);
    if (!ok) {
        if (e->handle < t->n_handles && t->handles[e->handle] == e)
            t->handles[e->handle] = NULL;
        free(e);
        return NULL;
    }
    t->n_entries++;
    return e;
}

bool sw_table_has(const sw_table *t, const uint64_t *key, const uint64_t *mask,
                  const uint64_t *high, uint32_t prefix_len, int32_t priority)
{
    unsigned words = t->def->words;
    if (t->def->match == SW_EXACT)
        return sw_find_exact(t, key, words);
    if (t->def->match == SW_LPM) {
        const sw_prefix *p = find_prefix(t, prefix_len);
        return p && sw_map_find(&p->map, key, words);
    }
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const sw_entry *e = t->sorted[i].entry;
        if (e->priority == priority && sw_key_equal(e->key, key, words) &&
            sw_key_equal(e->mask, mask, words) && sw_key_equal(e->high, high, words))
            return true;
    }
    return false;
}

bool sw_table_remove(sw_table *t, uint32_t handle)
{
    sw_entry *e = sw_table_entry(t, handle);
    if (!e)
        return false;
    t->has_last = false;
    if (t->def->match == SW_EXACT)
        map_drop(&t->exact, e);
    else if (t->def->match == SW_LPM) {
        sw_prefix *p = find_prefix(t, e->prefix_len);
        map_drop(&p->map, e);
        if (!p->map.used)
            drop_prefix(t, p);
    } else
        sorted_drop(t, e);
    t->handles[handle] = NULL;
    if (handle < t->free_from)
        t->free_from = handle;
    t->n_entries--;
    free(e);
    return true;
}
