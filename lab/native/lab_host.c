#include "lab_host.h"

#include <stdlib.h>
#include <string.h>

int64_t lab_add_host(lab *l)
{
    lab_host *h = calloc(1, sizeof *h);
    int64_t node = h ? lab_add_node(l, &h->actor, LAB_HOST, h) : LAB_ERR_MEMORY;
    if (node < 0) {
        free(h);
        return node;
    }
    h->lab = l;
    h->stats.delay_min_ns = UINT64_MAX;
    h->random = lab_random_of(l->seed, h->actor.number);
    return node;
}

int64_t lab_set_line(lab *l, uint32_t node, uint64_t rate_bps, uint32_t overhead)
{
    lab_host *h = lab_host_of(l, node);
    if (!h)
        return LAB_ERR_NODE;
    h->line.rate_bps = rate_bps;
    h->line.overhead = overhead;
    return 0;
}

void lab_host_attach(lab_host *h, lab_link *out) { h->out = out; }

void lab_host_free(lab_host *h)
{
    for (sw_frame *f = h->first, *next; f; f = next) {
        next = f->next;
        sw_frame_give(&h->lab->pool, f);
    }
    if (h->role)
        h->role->free(h->role);
    free(h);
}

sw_frame *lab_host_frame(lab_host *h, uint32_t len) { return sw_frame_take(&h->lab->pool, len); }

/* Put a frame on the line, which is free. */
static void transmit(lab_host *h, uint64_t now, sw_frame *f)
{
    h->stats.sent++;
    h->stats.sent_octets += f->len;
    uint64_t gone = sw_line_send(&h->line, f->len, now);
    if (h->out) {
        lab_link_put(h->out, gone, f);
    } else {
        h->stats.unlinked++;
        sw_frame_give(&h->lab->pool, f);
    }
}

void lab_host_send(lab_host *h, uint64_t now, sw_frame *f)
{
    h->stats.made++;
    f->born = now;
    if (!h->first && h->line.free_ns <= now) {
        transmit(h, now, f);
        return;
    }
    f->next = NULL;
    if (h->last)
        h->last->next = f;
    else
        h->first = f;
    h->last = f;
}

void lab_host_reschedule(lab_host *h)
{
    uint64_t due = h->first ? h->line.free_ns : LAB_NEVER;
    uint64_t by_role = h->role ? h->role->due(h->role, h) : LAB_NEVER;
    lab_schedule(h->lab, h->actor.number, due < by_role ? due : by_role);
}

void lab_host_arrive(lab_host *h, uint64_t now, sw_frame *f)
{
    lab_host_stats *s = &h->stats;
    s->received++;
    s->received_octets += f->len;
    if (f->born != UINT64_MAX) {
        uint64_t delay = now - f->born;
        s->timed++;
        s->delay_sum_ns += delay;
        s->delay_min_ns = delay < s->delay_min_ns ? delay : s->delay_min_ns;
        s->delay_max_ns = delay > s->delay_max_ns ? delay : s->delay_max_ns;
    }
    if (h->role) {
        h->role->arrive(h->role, h, now, f);
        lab_host_reschedule(h);
    }
    sw_frame_give(&h->lab->pool, f);
}

void lab_host_act(lab_host *h, uint64_t now)
{
    while (h->first && h->line.free_ns <= now) {
        sw_frame *f = h->first;
        h->first = f->next;
        if (!h->first)
            h->last = NULL;
        transmit(h, h->line.free_ns > f->born ? h->line.free_ns : f->born, f);
    }
    if (h->role)
        h->role->act(h->role, h, now);
    lab_host_reschedule(h);
}

int64_t lab_host_stats_of(const lab *l, uint32_t node, lab_host_stats *out)
{
    const lab_host *h = lab_host_of(l, node);
    if (!h)
        return LAB_ERR_NODE;
    *out = h->stats;
    for (const sw_frame *f = h->first; f; f = f->next)
        out->queued++;
    return 0;
}

int64_t lab_reset_delays(lab *l, uint32_t node)
{
    lab_host *h = lab_host_of(l, node);
    if (!h)
        return LAB_ERR_NODE;
    h->stats.timed = h->stats.delay_sum_ns = h->stats.delay_max_ns = 0;
    h->stats.delay_min_ns = UINT64_MAX;
    return 0;
}

int64_t lab_send_frame(lab *l, uint32_t node, uint32_t len, const uint8_t *octets)
{
    lab_host *h = lab_host_of(l, node);
    if (!h)
        return LAB_ERR_NODE;
    sw_frame *f = lab_host_frame(h, len);
    if (!f)
        return LAB_ERR_MEMORY;
    memcpy(f->data + f->head, octets, len);
    lab_host_send(h, l->now, f);
    lab_host_reschedule(h);
    return 0;
}
