/* The role of a plain source: the same frames in turn, at a constant rate or a random one. */
#include <stdlib.h>
#include <string.h>

#include "lab_host.h"

#define PS_PER_NS 1000u

typedef struct {
    lab_role role;
    uint64_t next_ns, next_ps; /* the next frame is due next_ps picoseconds after next_ns */
    uint64_t mean_ps, left;
    bool poisson, endless;
    uint32_t n, turn;
    uint32_t *lengths, *gaps;
    const uint8_t **frames;
    uint8_t *octets;
} series;

static uint64_t series_due(const lab_role *r, const lab_host *h)
{
    const series *s = (const series *)r;
    (void)h;
    return s->endless || s->left ? s->next_ns : LAB_NEVER;
}

static void advance(series *s, lab_host *h)
{
    uint64_t ps = s->poisson ? lab_random_exponential(&h->random, s->mean_ps) : s->mean_ps;
    ps += s->next_ps;
    s->next_ns += ps / PS_PER_NS;
    s->next_ps = ps % PS_PER_NS;
}

static void series_act(lab_role *r, lab_host *h, uint64_t now)
{
    series *s = (series *)r;
    while (series_due(r, h) <= now) {
        sw_frame *f =
            lab_host_copy(h, s->lengths[s->turn], s->gaps[s->turn], s->frames[s->turn]);
        if (f)
            lab_host_send(h, s->next_ns, f);
        s->turn = s->turn + 1 == s->n ? 0 : s->turn + 1;
        s->left -= !s->endless;
        advance(s, h);
    }
}

static void series_arrive(lab_role *r, lab_host *h, uint64_t now, const sw_frame *f)
{
    (void)r, (void)h, (void)now, (void)f;
}

static void series_free(lab_role *r)
{
    series *s = (series *)r;
    free(s->lengths);
    free(s->gaps);
    free(s->frames);
    free(s->octets);
    free(s);
}

static series *series_new(uint32_t n, const uint32_t *lengths, const uint8_t *octets)
{
    size_t size = 0;
    for (uint32_t i = 0; i < n; i++)
        size += lengths[i];
    series *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->role = (lab_role){series_arrive, series_act, series_due, series_free};
    s->n = n;
    s->lengths = malloc(n * sizeof *s->lengths);
    s->gaps = malloc(n * sizeof *s->gaps);
    s->frames = malloc(n * sizeof *s->frames);
    s->octets = malloc(size ? size : 1);
    if (!s->lengths || !s->gaps || !s->frames || !s->octets) {
        series_free(&s->role);
        return NULL;
    }
    memcpy(s->lengths, lengths, n * sizeof *lengths);
    memcpy(s->octets, octets, size);
    for (size_t i = 0, at = 0; i < n; at += lengths[i++]) {
        s->frames[i] = s->octets + at;
        s->gaps[i] = lab_host_gap(s->frames[i], lengths[i]);
    }
    return s;
}

int64_t lab_send_series(lab *l, uint32_t node, uint64_t start, uint64_t mean_ps, bool poisson,
                        uint64_t count, uint32_t n, const uint32_t *lengths,
                        const uint8_t *octets)
{
    lab_host *h = lab_host_of(l, node);
    if (!h || !n)
        return LAB_ERR_NODE;
    /* Without time between them there must be an end. */
    if (start < l->now || (!mean_ps && !count) || mean_ps >> 56)
        return LAB_ERR_TIME;
    series *s = series_new(n, lengths, octets);
    if (!s)
        return LAB_ERR_MEMORY;
    s->next_ns = start;
    s->mean_ps = mean_ps;
    s->poisson = poisson;
    s->left = count;
    s->endless = !count;
    if (h->role)
        h->role->free(h->role);
    h->role = &s->role;
    if (poisson)
        advance(s, h);
    lab_host_reschedule(h);
    return 0;
}
