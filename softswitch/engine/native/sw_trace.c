/* Stories of packets (sw_trace.h), in memory of a fixed size. */
#include "sw_trace.h"

#ifdef SW_TRACED
#include <stdlib.h>

#define TRACE_STORIES 4096u
#define PORT_TEST UINT32_MAX

/* Headers and metadata are looked at as words: those in the packet, and behind them those that the
 * engine has for the side of the queues where the packet is. Both are whole words. */
static uint32_t phv_words(void) { return prog->phv_size / 8; }
static uint32_t all_words(void) { return phv_words() + prog->locals_size / 8; }

static uint32_t story_of(const sw_trace *t, const sw_pkt *p)
{
    return p->story < t->limit ? p->story : 0;
}

/* Room for a record; NULL when there is none, which is counted. */
static uint8_t *record(sw_trace *t, const sw_pkt *p, enum sw_trace_kind kind, uint32_t arg,
                       uint64_t extra, uint32_t size)
{
    uint32_t need = (uint32_t)sizeof(sw_trace_record) + ((size + 7u) & ~7u);
    if (need > t->cap - t->size) {
        t->lost++;
        return NULL;
    }
    sw_trace_record r = {size, kind, p->trace, arg, extra};
    memcpy(t->records + t->size, &r, sizeof r);
    uint8_t *payload = t->records + t->size + sizeof r;
    t->size += need;
    t->story_octets[story_of(t, p)] += need;
    return payload;
}

/* Pairs of place and value of the first `n` words that differ from what `shadow` has. */
static void words(const sw_engine *e, const sw_pkt *p, enum sw_trace_kind kind, uint32_t arg,
                  uint64_t extra, uint32_t n)
{
    sw_trace *t = e->trace;
    const uint64_t *inside = (const uint64_t *)(const void *)p->phv;
    const uint64_t *apart = (const uint64_t *)(const void *)e->locals;
    uint32_t within = phv_words(), differ = 0;
    for (uint32_t i = 0; i < n; i++)
        differ += (i < within ? inside[i] : apart[i - within]) != t->shadow[i];
    t->shadow_of = p->trace;
    if (!differ && kind == SW_T_CHANGES)
        return;
    uint8_t *out = record(t, p, kind, arg, extra, differ * 16);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t now = i < within ? inside[i] : apart[i - within];
        if (now == t->shadow[i])
            continue;
        t->shadow[i] = now;
        if (!out)
            continue;
        memcpy(out, &i, 8);
        memcpy(out + 8, &now, 8);
        out += 16;
    }
}

static void changes(const sw_engine *e, const sw_pkt *p, uint32_t n)
{
    if (sw_traced(e, p) && e->trace->shadow_of == p->trace)
        words(e, p, SW_T_CHANGES, 0, 0, n);
}

void sw_trace_flush(sw_engine *e, const sw_pkt *p)
{
    changes(e, p, all_words());
}

static void pass(sw_engine *e, const sw_pkt *p, enum sw_trace_part part)
{
    /* Of another packet; parser and egress begin by clearing theirs, too. */
    memset(e->locals, 0, prog->locals_size);
    memset(e->trace->shadow, 0, all_words() * 8u);
    words(e, p, SW_T_PASS, part, e->now_ns, all_words());
}

/* Nothing more is told of a packet whose story has become too long, as of one that goes round. */
static bool cut(sw_engine *e, sw_pkt *p)
{
    sw_trace *t = e->trace;
    if (SW_LIKELY(t->story_octets[story_of(t, p)] <= t->story_cap))
        return false;
    record(t, p, SW_T_CUT, 0, 0, 0);
    p->trace = 0;
    t->live--;
    return true;
}

void sw_trace_pass(sw_engine *e, sw_pkt *p)
{
    sw_trace *t = e->trace;
    if (!sw_traced(e, p)) {
        p->trace = 0;
        if (!t || t->begun >= t->limit)
            return;
        t->undo = t->size;
        t->story_octets[t->begun] = 0;
        p->story = (uint16_t)t->begun;
        p->trace = e->traced_packets + 1;
        uint8_t *frame = record(t, p, SW_T_BEGIN, p->ingress_port, e->now_ns, p->len);
        if (!frame) {
            p->trace = 0;
            return;
        }
        sw_octets(frame, sw_data(p), p->len, p->frame->gap, p->len);
    }
    pass(e, p, SW_T_PARSER);
}

static bool passes(const sw_engine *e, const sw_pkt *p, const sw_trace_test *test)
{
    if (test->at == PORT_TEST) {
        uint32_t port;
        memcpy(&port, test->value, sizeof port);
        return p->ingress_port == port;
    }
    if (test->valid != UINT32_MAX && !p->phv[test->valid])
        return false;
    bool inside = test->at < prog->phv_size;
    const uint8_t *field = inside ? p->phv + test->at : e->locals + (test->at - prog->phv_size);
    for (uint32_t i = 0; i < test->size; i++)
        if ((field[i] ^ test->value[i]) & test->mask[i])
            return false;
    return true;
}

/* One test of each group has to be passed. */
static bool wanted(const sw_engine *e, const sw_pkt *p)
{
    const sw_trace *t = e->trace;
    for (uint32_t i = 0; i < t->n_tests;) {
        uint32_t group = t->tests[i].group;
        bool any = false;
        for (; i < t->n_tests && t->tests[i].group == group; i++)
            any = any || passes(e, p, &t->tests[i]);
        if (!any)
            return false;
    }
    return true;
}

void sw_trace_parsed(sw_engine *e, sw_pkt *p)
{
    if (!sw_traced(e, p))
        return;
    sw_trace *t = e->trace;
    if (p->trace > e->traced_packets) {
        if (!wanted(e, p)) {
            t->size = t->undo;
            t->passed++;
            p->trace = 0;
            return;
        }
        e->traced_packets++;
        t->begun++;
        t->live++;
    }
    sw_trace_flush(e, p);
    if (p->parser_error)
        record(t, p, SW_T_NOTE, SW_T_PARSER_ERROR, p->parser_error, 0);
}

void sw_trace_egress(sw_engine *e, sw_pkt *p)
{
    if (sw_traced(e, p) && !cut(e, p))
        pass(e, p, SW_T_EGRESS);
}

void sw_trace_copied(sw_engine *e, const sw_pkt *p, sw_pkt *c, enum sw_trace_copy how, uint32_t by)
{
    c->trace = 0;
    if (!sw_traced(e, p))
        return;
    c->trace = ++e->traced_packets;
    c->story = p->story;
    e->trace->live++;
    record(e->trace, c, SW_T_COPY, how, p->trace | (uint64_t)by << 32, 0);
    if (!cut(e, c) && how == SW_T_CLONE_I2E)
        pass(e, c, SW_T_PARSER);
}

void sw_trace_point(sw_engine *e, sw_pkt *p, uint32_t point)
{
    sw_trace_flush(e, p);
    record(e->trace, p, SW_T_POINT, point, 0, 0);
}

void sw_trace_cell(sw_engine *e, sw_pkt *p, uint32_t point, uint64_t index, const void *cell,
                   uint32_t size)
{
    sw_trace_flush(e, p);
    uint8_t *out = record(e->trace, p, SW_T_CELL, point, index, size);
    if (out && size)
        memcpy(out, cell, size);
}

static uint32_t argument_octets(uint32_t action)
{
    uint32_t total = 0;
    for (uint32_t i = prog->first_arg[action]; i < prog->first_arg[action + 1]; i++)
        total += (prog->args[i].width + 7) / 8;
    return total;
}

/* The reverse of sw_pack(). */
static void unpack(uint32_t action, const uint8_t *data, uint8_t *out)
{
    for (uint32_t i = prog->first_arg[action]; i < prog->first_arg[action + 1]; i++) {
        const sw_arg *a = &prog->args[i];
        uint32_t octets = (a->width + 7) / 8;
        if (a->width > 128) {
            memcpy(out, data + a->at, octets);
        } else {
            for (uint32_t k = 0; k < octets; k++)
                out[k] = data[a->at + octets - 1 - k];
        }
        out += octets;
    }
}

void sw_trace_table(sw_engine *e, sw_pkt *p, uint32_t point, const uint64_t *key, unsigned n_words,
                    const sw_entry *n, bool hit, uint32_t action, const void *data)
{
    sw_trace *t = e->trace;
    sw_trace_flush(e, p);
    bool acts = action < prog->n_actions && data;
    sw_trace_lookup l = {.words = n_words, .action = action, .handle = n->handle,
                         .priority = n->priority, .prefix_len = n->prefix_len};
    l.has = hit ? SW_T_HAS_ENTRY : 0;
    l.has |= hit && n->mask ? SW_T_HAS_MASK : 0;
    l.has |= hit && n->high ? SW_T_HAS_HIGH : 0;
    if (n->target == SW_MEMBER) {
        l.has |= SW_T_OF_MEMBER;
        l.chosen = n->member ? n->member->id : 0;
    } else if (n->target == SW_GROUP) {
        l.has |= SW_T_OF_GROUP;
        l.chosen = n->group ? n->group->id : 0;
    }
    l.arguments = acts ? argument_octets(action) : 0;
    uint32_t parts = 1 + !!(l.has & SW_T_HAS_ENTRY) + !!(l.has & SW_T_HAS_MASK) + !!(l.has & SW_T_HAS_HIGH);
    uint32_t octets = n_words * 8;
    uint8_t *out = record(t, p, SW_T_TABLE, point, 0, (uint32_t)sizeof l + octets * parts + l.arguments);
    if (!out)
        return;
    memcpy(out, &l, sizeof l);
    out += sizeof l;
    const uint64_t *what[] = {key, hit ? n->key : NULL, hit ? n->mask : NULL, hit ? n->high : NULL};
    for (unsigned i = 0; i < 4; i++) {
        if (i && !what[i])
            continue;
        if (octets)
            memcpy(out, what[i], octets);
        out += octets;
    }
    if (l.arguments)
        unpack(action, data, out);
}

void sw_trace_queued(sw_engine *e, const sw_pkt *p, uint32_t port, uint32_t queue, uint32_t depth)
{
    if (!sw_traced(e, p))
        return;
    uint32_t place[] = {queue, depth};
    uint8_t *out = record(e->trace, p, SW_T_QUEUED, port, e->now_ns, sizeof place);
    if (out)
        memcpy(out, place, sizeof place);
}

void sw_trace_sent(sw_engine *e, const sw_pkt *p, uint32_t port, uint64_t at)
{
    if (!sw_traced(e, p))
        return;
    uint8_t *out = record(e->trace, p, SW_T_SENT, port, at, sw_size(p));
    if (out)
        sw_put_data(out, p);
}

void sw_trace_end(sw_engine *e, sw_pkt *p, enum sw_end why)
{
    if (sw_traced(e, p)) {
        /* By now others have passed. */
        changes(e, p, phv_words());
        record(e->trace, p, SW_T_END, why, e->now_ns, 0);
        e->trace->live--;
    }
    p->trace = 0;
}

void sw_trace_note(sw_engine *e, const sw_pkt *p, enum sw_trace_note note, uint64_t number)
{
    if (sw_traced(e, p))
        record(e->trace, p, SW_T_NOTE, note, number, 0);
}

/* For the control plane. */

static void release(sw_trace *t)
{
    if (!t)
        return;
    free(t->records);
    free(t->story_octets);
    free(t->tests);
    free(t);
}

int64_t sw_ctl_trace_start(sw_engine *e, const sw_trace_test *tests, uint32_t n, uint32_t stories,
                           uint32_t story_octets, uint32_t octets)
{
    if (!stories || stories > TRACE_STORIES)
        return SW_ERR_INDEX;
    sw_trace *t = calloc(1, sizeof *t + all_words() * 8u);
    if (!t)
        return SW_ERR_MEMORY;
    t->records = malloc(octets ? octets : 1);
    t->story_octets = calloc(stories, sizeof *t->story_octets);
    t->tests = calloc(n ? n : 1, sizeof *tests);
    t->cap = octets;
    t->story_cap = story_octets;
    t->limit = stories;
    t->n_tests = n;
    if (!t->records || !t->story_octets || !t->tests) {
        release(t);
        return SW_ERR_MEMORY;
    }
    if (n)
        memcpy(t->tests, tests, n * sizeof *tests);
    sw_lock(e);
    bool taken = e->trace != NULL;
    if (!taken) {
        t->first = e->traced_packets;
        e->trace = t;
    }
    sw_unlock(e);
    if (taken)
        release(t);
    return taken ? SW_ERR_EXISTS : 0;
}

void sw_ctl_trace_stop(sw_engine *e)
{
    sw_lock(e);
    sw_trace *t = e->trace;
    e->trace = NULL;
    sw_unlock(e);
    release(t);
}

void sw_ctl_trace_look(sw_engine *e, sw_trace_state *out)
{
    sw_lock(e);
    const sw_trace *t = e->trace;
    *out = t ? (sw_trace_state){t->size, t->begun, t->live, t->passed, t->lost}
             : (sw_trace_state){0};
    sw_unlock(e);
}

size_t sw_ctl_trace_take(sw_engine *e, uint8_t *dst, size_t cap)
{
    sw_lock(e);
    sw_trace *t = e->trace;
    size_t n = t && t->size <= cap ? t->size : 0;
    if (n)
        memcpy(dst, t->records, n);
    if (t && n)
        t->size = 0;
    sw_unlock(e);
    return n;
}
#endif
