/* The traffic manager: queues, rates and delays of ports, and the order of what they do. */
#include "sw_trace.h"

#include <stdlib.h>

#define FETCHED_AHEAD 16u /* packets: of a shorter queue they are in the caches */
#define FETCHED 640u      /* octets of a packet */

static void out_frame(sw_engine *e, uint32_t port, uint64_t at, const uint8_t *data, uint32_t len)
{
    size_t need = e->out_size + 16 + ((len + 7u) & ~7u);
    if (need > e->out_cap) {
        size_t cap = need * 2;
        uint8_t *out = realloc(e->out, cap);
        if (!out) {
            e->no_memory_drops++;
            return;
        }
        e->out = out;
        e->out_cap = cap;
    }
    memcpy(e->out + e->out_size, &at, 8);
    memcpy(e->out + e->out_size + 8, &port, 4);
    memcpy(e->out + e->out_size + 12, &len, 4);
    memcpy(e->out + e->out_size + 16, data, len);
    e->out_size = need;
}

/* The packet has reached the far end; with a sink: its last bit leaves the port at `at`. */
static void deliver(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t at)
{
    sw_port *port = &e->ports[number];
    uint32_t len = sw_size(p);
    SW_TRACE(sw_trace_sent(e, p, number, at));
    port->tx_packets++;
    port->tx_octets += len;
    if (number == e->cpu_port) {
        if (p->frame->gap)
            sw_put_data(e->scratch, p);
        sw_emit_event(e, SW_EV_PACKET_IN, 0, 0, p->frame->gap ? e->scratch : sw_data(p), len);
        sw_pkt_end(e, p, SW_TO_CPU);
        return;
    }
    if (e->sink) {
        e->sink(e->sink_context, number, at, sw_pkt_leave(e, p));
        return;
    }
    if (e->memory)
        out_frame(e, number, at, sw_data(p), len);
    else if (port->netif)
        sw_netif_send(e, port->netif, sw_data(p), len);
    sw_pkt_end(e, p, e->memory || port->netif ? SW_SENT : SW_NO_LINK);
}

/* Which of two ports acts first. */
static bool before(const sw_engine *e, uint16_t a, uint16_t b)
{
    uint64_t at_a = e->ports[a].due_ns, at_b = e->ports[b].due_ns;
    return at_a < at_b || (at_a == at_b && a < b);
}

static void set_place(sw_engine *e, uint32_t place, uint16_t number)
{
    e->pending[place - 1] = number;
    e->ports[number].place = place;
}

/* Put a port where it belongs in the heap, starting from a free place. */
static void settle(sw_engine *e, uint32_t place, uint16_t number)
{
    while (place > 1 && before(e, number, e->pending[place / 2 - 1])) {
        set_place(e, place, e->pending[place / 2 - 1]);
        place /= 2;
    }
    for (;;) {
        uint32_t child = place * 2;
        if (child > e->n_pending)
            break;
        if (child < e->n_pending && before(e, e->pending[child], e->pending[child - 1]))
            child++;
        if (!before(e, e->pending[child - 1], number))
            break;
        set_place(e, place, e->pending[child - 1]);
        place = child;
    }
    set_place(e, place, number);
}

static void remove_place(sw_engine *e, uint32_t place)
{
    uint16_t last = e->pending[--e->n_pending];
    if (place <= e->n_pending)
        settle(e, place, last);
}

static unsigned highest(uint32_t queues) { return 31u - (unsigned)__builtin_clz(queues); }

static const sw_pkt *first_of(const sw_port *port, unsigned queue)
{
    const sw_pkt *first = port->queues[queue].first;
    return first ? first : port->rounds[queue].first;
}

/* When a queue that is not empty may be served, the line aside. */
static uint64_t ready_at(const sw_port *port, unsigned queue)
{
    uint64_t since = first_of(port, queue)->due_ns;
    bool paused = port->paused >> queue & 1;
    return paused && port->paused_until[queue] > since ? port->paused_until[queue] : since;
}

/* The queue that is served next, which is the highest that may be: at `at` when some may be by then,
 * otherwise when the first one may. Some queue is not empty. */
static unsigned next_queue(const sw_port *port, uint64_t at)
{
    unsigned first = highest(port->waiting);
    if (SW_LIKELY(!(port->paused & port->waiting)))
        return first;
    for (uint32_t left = port->waiting; left; left &= ~(1u << highest(left))) {
        unsigned queue = highest(left);
        if (ready_at(port, queue) <= at)
            return queue;
        if (ready_at(port, queue) < ready_at(port, first))
            first = queue;
    }
    return first;
}

/* Work was added to a port or taken from it: it may be due at another time. */
static void reschedule(sw_engine *e, uint32_t number)
{
    sw_port *port = &e->ports[number];
    uint64_t due = UINT64_MAX;
    bool unpaused = SW_LIKELY(!(port->paused & port->waiting));
    if (port->waiting && !port->held && unpaused && port->line.free_ns >= e->now_ns) {
        /* What waits came by now, so it need not be looked at. */
        due = port->line.free_ns;
    } else if (port->waiting && !port->held) {
        uint64_t since = ready_at(port, next_queue(port, port->line.free_ns));
        due = since > port->line.free_ns ? since : port->line.free_ns;
    }
    if (port->wire.first && port->wire.first->due_ns < due)
        due = port->wire.first->due_ns;
    if (due == port->due_ns && port->place)
        return;
    port->due_ns = due;
    if (due != UINT64_MAX) {
        settle(e, port->place ? port->place : ++e->n_pending, (uint16_t)number);
    } else if (port->place) {
        remove_place(e, port->place);
        port->place = 0;
    }
}

void sw_port_hold(sw_engine *e, uint32_t port, bool held)
{
    e->ports[port].held = held;
    reschedule(e, port);
}

void sw_queue_pause(sw_engine *e, uint32_t number, uint32_t queue, uint64_t until)
{
    sw_port *port = &e->ports[number];
    /* Also when it ends now: what waits was not due before. */
    port->paused |= 1u << queue;
    port->paused_until[queue] = until > e->now_ns ? until : e->now_ns;
    reschedule(e, number);
}

void sw_port_control(sw_engine *e, uint32_t number, sw_frame *f)
{
    sw_port *port = &e->ports[number];
    uint64_t free_at = port->line.free_ns;
    uint64_t gone = sw_line_send(&port->line, f->len, free_at > e->now_ns ? free_at : e->now_ns);
    e->sink(e->sink_context, number, gone + port->delay_ns, f);
    reschedule(e, number);
}

void sw_enqueue(sw_engine *e, sw_pkt *p, uint32_t number)
{
    uint32_t queue = prog->priority(p);
    if (number >= SW_PORTS || queue >= e->n_queues) {
        sw_pkt_end(e, p, SW_NO_QUEUE);
        return;
    }
    sw_port *port = &e->ports[number];
    /* What comes round to its queue again waits for all others first, those that came meanwhile
     * included; in the next round it is in front of them. So packets that circulate keep the order
     * in which they came. */
    bool again = p->came_round && p->egress_port == number;
    sw_fifo *q = again ? &port->rounds[queue] : &port->queues[queue];
    p->came_round = again;
    prog->enqueued(p, e->now_ns / 1000, sw_queued(port, queue));
    SW_TRACE(sw_trace_queued(e, p, number, queue, sw_queued(port, queue)));
    enum sw_end full = sw_buffer_take(e, port, queue, p);
    if (full != SW_ENDS) {
        sw_pkt_end(e, p, full);
        return;
    }
    p->egress_port = number;
    p->queue = (uint8_t)queue;
    p->due_ns = e->now_ns;
    sw_fifo_put(q, p);
    port->waiting |= 1u << queue;
    if (++port->queued > port->peak)
        port->peak = port->queued;
    reschedule(e, number);
}

/* When the last bit leaves of a frame whose first bit does at `at`. */
static uint64_t serialise(sw_port *port, uint32_t len, uint64_t at)
{
    uint64_t gone = sw_line_send(&port->line, len, at);
    uint64_t by_count = at + (port->rate_pps ? 1000000000u / port->rate_pps : 0);
    if (by_count > gone) {
        port->line.free_ns = gone = by_count;
        port->line.fraction = 0;
    }
    return gone;
}

void sw_line_take(sw_engine *e, uint32_t number, uint32_t len, uint64_t at)
{
    serialise(&e->ports[number], len, at);
}

void sw_transmit(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t at)
{
    sw_port *port = &e->ports[number];
    uint64_t due = serialise(port, sw_size(p), at) + port->delay_ns;
    if (e->sink && number != e->cpu_port) {
        deliver(e, p, number, due);
        return;
    }
    if (port->wire.last && port->wire.last->due_ns > due)
        due = port->wire.last->due_ns;
    if (due <= e->now_ns && !port->wire.first) {
        deliver(e, p, number, due);
        return;
    }
    p->due_ns = due;
    sw_fifo_put(&port->wire, p);
    reschedule(e, number);
}

/* What waits behind many others has left the caches: fetch what egress and deparser use of the packet
 * that is served next, and where the one behind it begins. */
static inline __attribute__((always_inline)) void fetch_ahead(const sw_fifo *q)
{
    const sw_pkt *p = q->first;
    if (q->n < FETCHED_AHEAD)
        return;
    for (uint32_t at = 64; at < FETCHED; at += 64)
        __builtin_prefetch((const uint8_t *)p + at, 1);
    __builtin_prefetch(p->frame, 1);
    __builtin_prefetch(sw_data(p) - 128, 1);
    __builtin_prefetch(sw_data(p) - 64, 1);
    __builtin_prefetch(p->next);
}

/* Process the one event that a port has due at `now`. */
static void service(sw_engine *e, uint32_t number, uint64_t now)
{
    sw_port *port = &e->ports[number];
    if (port->wire.first && port->wire.first->due_ns <= now) {
        sw_pkt *p = sw_fifo_take(&port->wire);
        deliver(e, p, number, p->due_ns);
    } else {
        unsigned queue = next_queue(port, now);
        if (!port->queues[queue].first) {
            port->queues[queue] = port->rounds[queue];
            port->rounds[queue] = (sw_fifo){0};
        }
        sw_pkt *p = sw_fifo_take(&port->queues[queue]);
        fetch_ahead(&port->queues[queue]);
        sw_buffer_give(e, port, queue, p);
        if (!first_of(port, queue))
            port->waiting &= ~(1u << queue);
        port->paused &= ~(1u << queue);
        port->queued--;
        sw_egress(e, p, number, now);
    }
    reschedule(e, number);
}

uint64_t sw_next_due(const sw_engine *e)
{
    if (e->input.first)
        return e->now_ns;
    uint64_t first = e->n_pending ? e->ports[e->pending[0]].due_ns : UINT64_MAX;
    return first < e->next_idle_ns ? first : e->next_idle_ns;
}

bool sw_inner_due(const sw_engine *e)
{
    for (uint32_t i = 0; i < e->n_pending; i++)
        if (!e->ports[e->pending[i]].netif)
            return true;
    return false;
}

void sw_inner_defer(sw_engine *e, uint64_t until)
{
    for (uint32_t i = 0; i < SW_PORTS; i++) {
        sw_port *port = &e->ports[i];
        if (!port->place || port->netif || port->line.free_ns >= until)
            continue;
        port->line.free_ns = until;
        port->line.fraction = 0;
        reschedule(e, i);
    }
}

uint64_t sw_outer_due(const sw_engine *e)
{
    uint64_t first = e->next_idle_ns;
    for (uint32_t i = 0; i < e->n_pending; i++) {
        const sw_port *port = &e->ports[e->pending[i]];
        if (port->netif && port->due_ns < first)
            first = port->due_ns;
    }
    return first;
}

void sw_run_until(sw_engine *e, uint64_t now)
{
    for (;;) {
        if (e->input.first) {
            sw_ingress(e, sw_fifo_take(&e->input));
            continue;
        }
        uint32_t number = e->n_pending ? e->pending[0] : 0;
        uint64_t first = e->n_pending ? e->ports[number].due_ns : UINT64_MAX;
        if (e->next_idle_ns <= now && e->next_idle_ns < first) {
            if (e->next_idle_ns > e->now_ns)
                e->now_ns = e->next_idle_ns;
            sw_idle_scan(e);
            continue;
        }
        if (first > now)
            break;
        if (first > e->now_ns)
            e->now_ns = first;
        service(e, number, first);
    }
    if (now > e->now_ns)
        e->now_ns = now;
}
