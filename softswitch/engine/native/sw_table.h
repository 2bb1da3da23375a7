/* Match tables. A key is the concatenation of its fields, each a big-endian integer in whole bytes,
 * padded with zeros to 64-bit words; tables only ever compare keys. */
#ifndef SW_TABLE_H
#define SW_TABLE_H

#include "sw_base.h"

enum sw_match { SW_EXACT, SW_LPM, SW_TERNARY };
enum sw_target { SW_ACTION, SW_MEMBER, SW_GROUP };

/* Two-rate three-colour meter: rates in units per microsecond, as in simple_switch. */
typedef struct {
    double rate[2];      /* committed, peak */
    uint64_t burst[2];
    uint64_t tokens[2];
    uint64_t given[2];   /* tokens earned since the start of time */
    bool configured;
    bool bytes;
} sw_meter;

typedef struct {
    uint64_t packets, octets;
} sw_counter;

/* An action with its arguments, laid out as the generated struct of that action. */
typedef struct sw_member {
    uint32_t action;
    uint32_t id;
    uint8_t *data;
} sw_member;

/* Members in the order of simple_switch's selection; size 0 is an empty group. */
typedef struct sw_group {
    uint32_t id;
    uint32_t size;
    sw_member **members;
} sw_group;

typedef struct sw_entry {
    uint32_t handle;
    int32_t priority;
    uint64_t timeout_ns;
    uint64_t idle_told_ns; /* when it was last told to be idle; 0: not since it was written */
    uint64_t hash;
    uint64_t *mask; /* ternary only */
    uint64_t *high; /* tables with ranges only */
    sw_meter *meter; /* of tables with meters only */
    uint16_t prefix_len;
    /* What a packet meets, with the key in a cache line of its own. */
    uint32_t action __attribute__((aligned(64)));
    uint8_t target; /* enum sw_target */
    uint8_t *data;
    union {
        sw_member *member;
        sw_group *group;
    };
    sw_counter counter;
    uint64_t last_hit_ns;
    uint64_t key[];
} sw_entry;

typedef struct {
    uint64_t hash;
    sw_entry *entry; /* NULL: free */
} sw_slot;

/* Open addressing with linear probing; `bits` is log2 of the number of slots. */
typedef struct {
    sw_slot *slots;
    uint32_t bits;
    uint32_t used;
} sw_map;

/* Entries of one prefix length. */
typedef struct {
    uint32_t prefix_len;
    uint64_t *mask;
    sw_map map;
} sw_prefix;

typedef struct {
    uint16_t offset, size;
} sw_range;

/* The generated description of a table. */
typedef struct {
    uint8_t match; /* enum sw_match */
    uint16_t words;
    uint16_t n_ranges;
    const sw_range *ranges;
    uint32_t data_size; /* of the largest action data */
    uint32_t max_size;
    uint8_t meter; /* octets of an entry's: 0 or sizeof(sw_meter) */
    bool meter_bytes;
    bool timeout;
} sw_table_def;

/* An entry in the order of matching. The first word of its mask and key is here, too, and its first
 * range where that is in it: most entries are passed by without a look at them. `next` is the next one
 * that the same packet may match. */
typedef struct {
    uint64_t mask, key, low, high;
    sw_entry *entry;
    uint32_t next; /* SW_LAST: none */
} sw_sorted;

#define SW_LAST UINT32_MAX
#define SW_KEY_WORDS 32u /* of a key, at most */

typedef struct {
    const sw_table_def *def;
    sw_map exact;
    sw_prefix *prefixes; /* longest first */
    uint32_t n_prefixes;
    sw_sorted *sorted; /* ternary: best first */
    /* The first of them by a hash of `common`, the bits of the first word that all of them match;
     * made by the first packet after a change. */
    uint32_t *firsts, first_mask;
    uint64_t common;
    bool indexed;
    uint32_t n_entries, sorted_cap;
    sw_entry **handles;
    uint32_t n_handles, free_from; /* no free handle below free_from */
    sw_entry *default_entry; /* action ~0: no action at all */
    /* What the last packet found that was looked up by prefix or mask (NULL: nothing), until a change:
     * the next one often has the same key. */
    bool has_last;
    sw_entry *last;
    uint64_t last_key[SW_KEY_WORDS];
} sw_table;

#define SW_NO_ACTION UINT32_MAX

void sw_table_init(sw_table *t, const sw_table_def *def);
void sw_table_free(sw_table *t);
/* The new entry, or NULL when memory is short. key, mask and high have def->words words. */
sw_entry *sw_table_add(sw_table *t, const uint64_t *key, const uint64_t *mask,
                       const uint64_t *high, uint32_t prefix_len, int32_t priority);
bool sw_table_has(const sw_table *t, const uint64_t *key, const uint64_t *mask,
                  const uint64_t *high, uint32_t prefix_len, int32_t priority);
bool sw_table_remove(sw_table *t, uint32_t handle);
sw_entry *sw_table_entry(const sw_table *t, uint32_t handle);
void sw_table_index(sw_table *t);

SW_INLINE uint64_t sw_key_hash(const uint64_t *key, unsigned words)
{
    uint64_t h = 0x9e3779b97f4a7c15ULL;
    for (unsigned i = 0; i < words; i++) {
        u128 p = (u128)(key[i] ^ h) * 0xd6e8feb86659fd93ULL;
        h = (uint64_t)p ^ (uint64_t)(p >> 64);
    }
    return h;
}
SW_INLINE bool sw_key_equal(const uint64_t *a, const uint64_t *b, unsigned words)
{
    uint64_t d = 0;
    for (unsigned i = 0; i < words; i++)
        d |= a[i] ^ b[i];
    return d == 0;
}
SW_INLINE sw_entry *sw_map_find(const sw_map *m, const uint64_t *key, unsigned words)
{
    if (m->used == 0)
        return NULL;
    uint64_t h = sw_key_hash(key, words);
    uint32_t mask = (1u << m->bits) - 1;
    for (uint32_t i = (uint32_t)h & mask;; i = (i + 1) & mask) {
        const sw_slot *s = &m->slots[i];
        if (!s->entry)
            return NULL;
        if (s->hash == h && sw_key_equal(s->entry->key, key, words))
            return s->entry;
    }
}
SW_INLINE sw_entry *sw_find_exact(const sw_table *t, const uint64_t *key, unsigned words)
{
    return sw_map_find(&t->exact, key, words);
}
SW_INLINE bool sw_is_last(const sw_table *t, const uint64_t *key, unsigned words)
{
    return t->has_last && sw_key_equal(t->last_key, key, words);
}
SW_INLINE sw_entry *sw_found(sw_table *t, const uint64_t *key, unsigned words, sw_entry *e)
{
    t->has_last = true;
    memcpy(t->last_key, key, words * 8);
    return t->last = e;
}
SW_INLINE sw_entry *sw_find_lpm(sw_table *t, const uint64_t *key, unsigned words)
{
    if (sw_is_last(t, key, words))
        return t->last;
    for (uint32_t i = 0; i < t->n_prefixes; i++) {
        uint64_t k[SW_KEY_WORDS];
        const sw_prefix *p = &t->prefixes[i];
        for (unsigned w = 0; w < words; w++)
            k[w] = key[w] & p->mask[w];
        sw_entry *e = sw_map_find(&p->map, k, words);
        if (e)
            return sw_found(t, key, words, e);
    }
    return sw_found(t, key, words, NULL);
}
/* A field as a number, where one word has all of it. */
SW_INLINE uint64_t sw_number(const uint64_t *key, const sw_range *r)
{
    uint64_t word = __builtin_bswap64(key[r->offset / 8]);
    return word << r->offset % 8 * 8 >> (64 - r->size * 8);
}
/* The number in a key's first word that is compared with a range; 0: there is none. */
SW_INLINE uint64_t sw_ranged(const sw_table_def *d, const uint64_t *key)
{
    bool first = d->n_ranges && d->ranges->offset + d->ranges->size <= 8;
    return first ? sw_number(key, d->ranges) : 0;
}
SW_INLINE bool sw_in_ranges(const sw_table_def *d, const sw_entry *e, const uint64_t *key)
{
    for (unsigned i = 0; i < d->n_ranges; i++) {
        const sw_range *r = &d->ranges[i];
        if (SW_LIKELY(r->offset % 8 + r->size <= 8)) {
            uint64_t at = sw_number(key, r);
            if (at < sw_number(e->key, r) || at > sw_number(e->high, r))
                return false;
            continue;
        }
        const uint8_t *k = (const uint8_t *)key + r->offset;
        if (memcmp(k, (const uint8_t *)e->key + r->offset, r->size) < 0 ||
            memcmp(k, (const uint8_t *)e->high + r->offset, r->size) > 0)
            return false;
    }
    return true;
}
SW_INLINE uint32_t *sw_first(const sw_table *t, uint64_t word)
{
    return &t->firsts[(uint32_t)((word & t->common) * 0x9e3779b97f4a7c15ULL >> 32) & t->first_mask];
}
SW_INLINE sw_entry *sw_find_ternary(sw_table *t, const uint64_t *key, unsigned words)
{
    if (!t->n_entries)
        return NULL;
    if (sw_is_last(t, key, words))
        return t->last;
    if (SW_UNLIKELY(!t->indexed))
        sw_table_index(t);
    const sw_sorted *s;
    uint64_t at = sw_ranged(t->def, key);
    for (uint32_t i = *sw_first(t, key[0]); i != SW_LAST; i = s->next) {
        s = &t->sorted[i];
        uint64_t d = (key[0] & s->mask) ^ s->key;
        if (d || at < s->low || at > s->high)
            continue;
        sw_entry *e = s->entry;
        for (unsigned w = 1; w < words; w++)
            d |= (key[w] & e->mask[w]) ^ (e->key[w] & e->mask[w]);
        if (!d && sw_in_ranges(t->def, e, key))
            return sw_found(t, key, words, e);
    }
    return sw_found(t, key, words, NULL);
}
#endif
