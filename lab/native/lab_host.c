#include "lab_host.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "lab_ethernet.h"
#include "lab_pfc.h"
#include "lab_tcp.h"
#include "wire.h"

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
    for (uint32_t i = 0; i < SW_PRIORITIES; i++)
        for (sw_frame *f = h->queues[i].first, *next; f; f = next) {
            next = f->next;
            sw_frame_give(&h->lab->pool, f);
        }
    if (h->role)
        h->role->free(h->role);
    free(h);
}

sw_frame *lab_host_frame(lab_host *h, uint32_t len)
{
    return sw_frame_take(&h->lab->pool, len, SW_ROOM);
}

sw_frame *lab_host_frame_of_zeros(lab_host *h, uint32_t len)
{
    return sw_frame_take_short(&h->lab->pool, len, sw_gap_of(len), SW_ROOM);
}

uint32_t lab_host_gap(const uint8_t *octets, uint32_t len)
{
    uint32_t gap = sw_gap_of(len);
    for (uint32_t i = 0; i < gap; i++)
        if (octets[len - SW_FAR - gap + i])
            return 0;
    return gap;
}

sw_frame *lab_host_copy(lab_host *h, uint32_t len, uint32_t gap, const uint8_t *octets)
{
    sw_frame *f = sw_frame_take_short(&h->lab->pool, len, gap, SW_ROOM);
    if (f) {
        uint8_t *out = f->data + f->head;
        uint32_t near = sw_near(len, gap);
        memcpy(out, octets, near);
        memcpy(out + near, octets + near + gap, len - near - gap);
    }
    return f;
}

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

/* Queues of the interface: of those that may send the one whose first frame came first. */

unsigned lab_host_queue(const lab_host *h, uint8_t dscp) { return h->pfc ? dscp >> 3 : 0; }

static uint64_t paused_until(const lab_host *h, unsigned queue)
{
    return h->pfc ? h->pfc->paused_until[queue] : 0;
}

static void put_in_queue(lab_host *h, unsigned queue, sw_frame *f)
{
    f->next = NULL;
    f->at = h->numbered++;
    if (h->queues[queue].last)
        h->queues[queue].last->next = f;
    else
        h->queues[queue].first = f;
    h->queues[queue].last = f;
    h->waiting |= 1u << queue;
}

/* The queue that is served at `at`; SW_PRIORITIES: none may be. */
static unsigned next_queue(const lab_host *h, uint64_t at)
{
    unsigned first = SW_PRIORITIES;
    for (uint32_t left = h->waiting; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        if (paused_until(h, i) <= at &&
            (first == SW_PRIORITIES || h->queues[i].first->at < h->queues[first].first->at))
            first = i;
    }
    return first;
}

static sw_frame *take_from_queue(lab_host *h, unsigned queue)
{
    sw_frame *f = h->queues[queue].first;
    h->queues[queue].first = f->next;
    if (!f->next) {
        h->queues[queue].last = NULL;
        h->waiting &= ~(1u << queue);
    }
    return f;
}

/* When a queue may be served next, the line aside. */
static uint64_t queues_due(const lab_host *h)
{
    uint64_t due = LAB_NEVER;
    for (uint32_t left = h->waiting; left; left &= left - 1) {
        uint64_t until = paused_until(h, (unsigned)__builtin_ctz(left));
        due = until < due ? until : due;
    }
    return due;
}

uint64_t lab_host_free_at(const lab_host *h, unsigned queue)
{
    if (LAB_UNLIKELY(h->waiting) &&
        (h->waiting >> queue & 1 || queues_due(h) <= h->line.free_ns))
        return LAB_NEVER;
    uint64_t until = paused_until(h, queue);
    return until > h->line.free_ns ? until : h->line.free_ns;
}

void lab_host_send(lab_host *h, uint64_t now, sw_frame *f)
{
    unsigned queue = h->pfc ? sw_frame_priority(f->data + f->head, f->len) : 0;
    h->stats.made++;
    f->born = now;
    if (!h->waiting && h->line.free_ns <= now && paused_until(h, queue) <= now)
        transmit(h, now, f);
    else
        put_in_queue(h, queue, f);
}

void lab_host_control(lab_host *h, uint64_t now, sw_frame *f)
{
    h->stats.made++;
    f->born = now;
    transmit(h, h->line.free_ns > now ? h->line.free_ns : now, f);
}

void lab_host_reschedule(lab_host *h)
{
    uint64_t due = h->waiting ? queues_due(h) : LAB_NEVER;
    if (due < h->line.free_ns)
        due = h->line.free_ns;
    uint64_t by_role = h->role ? h->role->due(h->role, h) : LAB_NEVER;
    due = due < by_role ? due : by_role;
    uint64_t by_tcp = LAB_UNLIKELY(h->tcp) ? lab_tcp_due(h) : LAB_NEVER;
    lab_schedule(h->lab, h->actor.number, due < by_tcp ? due : by_tcp);
}

/* Whether flow control took the frame: a PAUSE, or one that does not fit the host's memory. */
static bool take(lab_host *h, uint64_t now, const sw_frame *f)
{
    if (lab_pfc_on_frame(h->pfc, now, f))
        return true;
    bool room = lab_pfc_receive(h->pfc, now, f);
    h->stats.overflowed += !room;
    return !room;
}

/* Whether all that a host reads of a frame is before what that leaves out: a segment of TCP, or data of
 * RoCEv2, as long as its headers say. */
static bool is_data(const sw_frame *f)
{
    const uint8_t *ip = f->data + f->head + ETHERNET_HEADER;
    unsigned type = get16(ip - ETHERNET_HEADER + ETHERNET_TYPE);
    bool four = type == TYPE_IPV4;
    uint32_t start = four ? IPV4_HEADER : IPV6_HEADER;
    unsigned protocol = ip[four ? IPV4_PROTOCOL : IPV6_NEXT_HEADER];
    uint32_t octets = four ? get16(ip + IPV4_LENGTH) : IPV6_HEADER + get16(ip + IPV6_LENGTH);
    uint8_t opcode = ip[start + UDP_HEADER];
    if (!four && type != TYPE_IPV6)
        return false;
    return protocol == IP_PROTOCOL_TCP ||
           (protocol == IP_PROTOCOL_UDP && f->len == ETHERNET_HEADER + octets &&
            opcode >= RC_WRITE_FIRST && opcode <= RC_WRITE_ONLY);
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
    if (f->gap && !is_data(f) && !(f = sw_frame_whole(&h->lab->pool, f)))
        return;
    bool taken = LAB_UNLIKELY(h->pfc) && take(h, now, f);
    taken = taken || (LAB_UNLIKELY(h->lab->n_tcp) && lab_tcp_arrive(h, now, f));
    if (h->role && !taken)
        h->role->arrive(h->role, h, now, f);
    if (h->role || h->pfc || h->lab->n_tcp)
        lab_host_reschedule(h);
    sw_frame_give(&h->lab->pool, f);
}

void lab_host_act(lab_host *h, uint64_t now)
{
    while (h->waiting && h->line.free_ns <= now) {
        unsigned queue = next_queue(h, now);
        if (queue == SW_PRIORITIES)
            break;
        sw_frame *f = take_from_queue(h, queue);
        uint64_t at = f->born > h->line.free_ns ? f->born : h->line.free_ns;
        uint64_t until = paused_until(h, queue);
        transmit(h, until > at ? until : at, f);
    }
    if (h->role)
        h->role->act(h->role, h, now);
    if (LAB_UNLIKELY(h->tcp))
        lab_tcp_act(h, now);
    lab_host_reschedule(h);
}

int64_t lab_host_stats_of(const lab *l, uint32_t node, lab_host_stats *out)
{
    const lab_host *h = lab_host_of(l, node);
    if (!h)
        return LAB_ERR_NODE;
    *out = h->stats;
    for (uint32_t i = 0; i < SW_PRIORITIES; i++)
        for (const sw_frame *f = h->queues[i].first; f; f = f->next)
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
    sw_frame *f = lab_host_copy(h, len, lab_host_gap(octets, len), octets);
    if (!f)
        return LAB_ERR_MEMORY;
    lab_host_send(h, l->now, f);
    lab_host_reschedule(h);
    return 0;
}
