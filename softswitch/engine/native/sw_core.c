/* The path of a packet as in simple_switch: ingress thread, traffic manager, egress thread. */
#include "sw_core.h"

#include <stdlib.h>

#define SMALL_FRAME 1536u
/* Most packets that wait for resubmission or recirculation; more are dropped. */
#define INPUT_CAPACITY 1024u
/* Most copies (clones, replicas, resubmissions, recirculations) one after another that go back to
 * one received packet; a program that makes them for ever would stop the switch. */
#define SW_COPIES 512u

static void fifo_put(sw_fifo *f, sw_pkt *p)
{
    p->next = NULL;
    if (f->last)
        f->last->next = p;
    else
        f->first = p;
    f->last = p;
    f->n++;
}

static sw_pkt *fifo_take(sw_fifo *f)
{
    sw_pkt *p = f->first;
    if (!p)
        return NULL;
    f->first = p->next;
    if (!f->first)
        f->last = NULL;
    f->n--;
    return p;
}

/* A packet with room for `size` bytes and as much growth as one pass may add. */
static sw_pkt *pkt_new(sw_engine *e, uint32_t size)
{
    unsigned class = size > SMALL_FRAME;
    sw_pkt *p = e->pool[class];
    if (p) {
        e->pool[class] = p->next;
    } else {
        uint32_t cap = SW_HEADROOM + (class ? SW_MAX_FRAME + SW_HEADROOM : SMALL_FRAME);
        size_t fixed = (sizeof *p + prog->phv_size + 15) & ~(size_t)15;
        void *memory = NULL;
        if (posix_memalign(&memory, 64, fixed + cap)) {
            e->no_memory_drops++;
            return NULL;
        }
        p = memory;
        memset(p, 0, fixed);
        p->cap = cap;
        p->size_class = (uint8_t)class;
        p->buf = (uint8_t *)memory + fixed;
    }
    p->truncated = SW_NO_TRUNCATION;
    p->exit = p->dropped = p->checksum_error = false;
    p->parser_error = p->copies = 0;
    p->clone_session = p->clone_list = p->learn_list = p->resubmit_list = p->recirculate_list = 0;
    return p;
}

void sw_pkt_free(sw_engine *e, sw_pkt *p)
{
    p->next = e->pool[p->size_class];
    e->pool[p->size_class] = p;
}

/* A new packet with the given bytes at the end of its buffer; headers are not reset. */
static sw_pkt *pkt_with(sw_engine *e, const uint8_t *data, uint32_t len)
{
    if (len > SW_MAX_FRAME + SW_HEADROOM) {
        e->oversize_drops++;
        return NULL;
    }
    sw_pkt *p = pkt_new(e, len);
    if (!p)
        return NULL;
    p->head = p->cap - len;
    p->len = len;
    memcpy(sw_data(p), data, len);
    return p;
}

/* Copy of the packet without its headers. */
static sw_pkt *clone_data(sw_engine *e, const sw_pkt *p, const uint8_t *data, uint32_t len)
{
    if (p->copies >= SW_COPIES) {
        e->loop_drops++;
        return NULL;
    }
    sw_pkt *c = pkt_with(e, data, len);
    if (c) {
        c->copies = p->copies + 1;
        prog->reset(c);
        c->ingress_len = p->ingress_len;
        c->ingress_port = p->ingress_port;
        c->reg_len = p->reg_len;
    }
    return c;
}

static sw_pkt *clone_headers(sw_engine *e, const sw_pkt *p)
{
    sw_pkt *c = clone_data(e, p, sw_data(p), p->len);
    if (c)
        memcpy(c->phv, p->phv, prog->phv_size);
    return c;
}

static void list_port(sw_engine *e, uint32_t number)
{
    sw_port *port = &e->ports[number];
    if (!port->listed) {
        port->listed = true;
        e->pending[e->n_pending++] = (uint16_t)number;
    }
}

static void transmit(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t at);

static void enqueue(sw_engine *e, sw_pkt *p, uint32_t number)
{
    uint32_t queue = prog->priority(p);
    if (number >= SW_PORTS || queue >= e->n_queues) {
        sw_pkt_free(e, p);
        return;
    }
    sw_port *port = &e->ports[number];
    sw_fifo *q = &port->queues[queue];
    prog->enqueued(p, e->now_ns / 1000, q->n);
    if (q->n >= port->depth) {
        port->queue_drops++;
        sw_pkt_free(e, p);
        return;
    }
    p->egress_port = number;
    p->queue = (uint8_t)queue;
    p->due_ns = e->now_ns;
    fifo_put(q, p);
    if (++port->queued > port->peak)
        port->peak = port->queued;
    list_port(e, number);
}

static void replicate(sw_engine *e, sw_pkt *p, const sw_replica *r, uint32_t n, uint32_t truncate)
{
    for (uint32_t i = 0; i < n; i++) {
        prog->set_egress_rid(p, r[i].instance);
        sw_pkt *c = clone_headers(e, p);
        if (!c)
            continue;
        if (truncate)
            c->truncated = truncate;
        enqueue(e, c, r[i].port);
    }
}

static void clone_to_session(sw_engine *e, sw_pkt *c, uint16_t request)
{
    const sw_session *s = e->sessions[request & ~SW_SESSION_VALID];
    if (s->class_of_service)
        prog->set_priority(c, s->class_of_service);
    replicate(e, c, s->replicas, s->n, s->truncate);
    sw_pkt_free(e, c);
}

static const sw_mgroup *find_mgroup(const sw_engine *e, uint32_t id)
{
    const sw_mgroup *g = e->mgroups[id & 255];
    while (g && g->id != id)
        g = g->next;
    return g;
}

static void learn(sw_engine *e, const sw_pkt *p)
{
    uint8_t buf[4096];
    uint32_t n = prog->learn(p, p->learn_list, buf, sizeof buf);
    if (n)
        sw_emit_event(e, SW_EV_DIGEST, p->learn_list, 0, buf, n);
}

/* Consumes p. */
static void ingress(sw_engine *e, sw_pkt *p)
{
    uint32_t head = p->head, len = p->len, reg_len = p->reg_len;
    prog->parse(e, p);
    prog->parsed(p);
    prog->ingress(e, p);
    p->exit = false;

    uint16_t session = p->clone_session, list = p->clone_list;
    p->clone_session = p->clone_list = 0;
    if (session && e->sessions[session & ~SW_SESSION_VALID]) {
        sw_pkt *c = clone_data(e, p, p->buf + head, len);
        if (c) {
            c->reg_len = reg_len;
            prog->set_ingress_port(c, p->ingress_port);
            prog->parse(e, c);
            prog->reset_metadata(c);
            prog->copy_fields(c, p, list);
            prog->set_instance_type(c, SW_I2E_CLONE);
            clone_to_session(e, c, session);
        }
    }
    if (p->learn_list) {
        learn(e, p);
        p->learn_list = 0;
    }
    if (p->resubmit_list) {
        sw_pkt *c = clone_data(e, p, p->buf + head, len);
        if (c && e->input.n < INPUT_CAPACITY) {
            prog->copy_fields(c, p, p->resubmit_list);
            prog->set_instance_type(c, SW_RESUBMIT);
            c->reg_len = reg_len;
            prog->set_packet_length(c, reg_len);
            fifo_put(&e->input, c);
        } else if (c) {
            e->input_drops++;
            sw_pkt_free(e, c);
        }
        sw_pkt_free(e, p);
        return;
    }
    uint32_t group = prog->mcast_grp(p);
    if (group) {
        const sw_mgroup *g = find_mgroup(e, group);
        prog->set_instance_type(p, SW_REPLICATION);
        if (g)
            replicate(e, p, g->replicas, g->n, 0);
        sw_pkt_free(e, p);
        return;
    }
    uint32_t port = prog->egress_spec(p);
    if (port == e->drop_port || p->dropped) {
        sw_pkt_free(e, p);
        return;
    }
    prog->set_instance_type(p, SW_NORMAL);
    enqueue(e, p, port);
}

/* Consumes p; the bits put on the wire, 0 when nothing is. */
static uint64_t egress(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t now)
{
    prog->dequeued(p, now / 1000, e->ports[number].queues[p->queue].n, e->drop_port);
    prog->egress(e, p);

    uint16_t session = p->clone_session, list = p->clone_list;
    p->clone_session = p->clone_list = 0;
    if (session && e->sessions[session & ~SW_SESSION_VALID]) {
        sw_pkt *c = clone_headers(e, p);
        if (c) {
            prog->reset_metadata(c);
            prog->copy_fields(c, p, list);
            prog->set_instance_type(c, SW_E2E_CLONE);
            clone_to_session(e, c, session);
        }
    }
    bool drop = prog->egress_spec(p) == e->drop_port || p->dropped;
    if (!drop)
        prog->deparse(e, p);
    if (drop || p->dropped) {
        sw_pkt_free(e, p);
        return 0;
    }
    if (p->recirculate_list) {
        /* Truncation is lost on recirculation: the copy is made from the whole buffer. */
        sw_pkt *c = clone_data(e, p, sw_data(p), p->len);
        if (c && e->input.n < INPUT_CAPACITY) {
            prog->copy_fields(c, p, p->recirculate_list);
            prog->set_instance_type(c, SW_RECIRC);
            c->reg_len = c->ingress_len = c->len;
            prog->set_packet_length(c, c->len);
            fifo_put(&e->input, c);
        } else if (c) {
            e->input_drops++;
            sw_pkt_free(e, c);
        }
        sw_pkt_free(e, p);
        return 0;
    }
    uint64_t bits = (uint64_t)sw_size(p) * 8;
    transmit(e, p, number, now);
    return bits;
}

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

/* The packet has reached the far end. */
static void deliver(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t at)
{
    sw_port *port = &e->ports[number];
    uint32_t len = sw_size(p);
    port->tx_packets++;
    port->tx_octets += len;
    if (number == e->cpu_port)
        sw_emit_event(e, SW_EV_PACKET_IN, 0, 0, sw_data(p), len);
    else if (e->memory)
        out_frame(e, number, at, sw_data(p), len);
    else if (port->netif)
        sw_netif_send(e, port->netif, sw_data(p), len);
    sw_pkt_free(e, p);
}

/* Serialisation time, rounded down: the error is below 1 ns per packet. */
static uint64_t serialisation_ns(const sw_port *port, uint64_t bits)
{
    uint64_t a = port->rate_pps ? 1000000000u / port->rate_pps : 0;
    uint64_t b = port->rate_bps ? (uint64_t)((u128)bits * 1000000000u / port->rate_bps) : 0;
    return a > b ? a : b;
}

static void transmit(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t at)
{
    sw_port *port = &e->ports[number];
    uint64_t due = at + port->delay_ns;
    if (port->rate_bps || port->rate_pps)
        due += serialisation_ns(port, (uint64_t)sw_size(p) * 8);
    if (port->wire.last && port->wire.last->due_ns > due)
        due = port->wire.last->due_ns;
    if (due <= e->now_ns && !port->wire.first) {
        deliver(e, p, number, due);
        return;
    }
    p->due_ns = due;
    fifo_put(&port->wire, p);
    list_port(e, number);
}

static uint64_t next_start(const sw_port *port)
{
    for (unsigned q = SW_QUEUES; port->queued && !port->held && q-- > 0;) {
        const sw_pkt *p = port->queues[q].first;
        if (p)
            return p->due_ns > port->free_ns ? p->due_ns : port->free_ns;
    }
    return UINT64_MAX;
}

void sw_port_hold(sw_engine *e, uint32_t port, bool held)
{
    e->ports[port].held = held;
}

static uint64_t port_due(const sw_port *port)
{
    uint64_t start = next_start(port);
    uint64_t arrival = port->wire.first ? port->wire.first->due_ns : UINT64_MAX;
    return start < arrival ? start : arrival;
}

/* Process the one event that a port has due at `now`. */
static void service(sw_engine *e, uint32_t number, uint64_t now)
{
    sw_port *port = &e->ports[number];
    if (port->wire.first && port->wire.first->due_ns <= now) {
        sw_pkt *p = fifo_take(&port->wire);
        deliver(e, p, number, p->due_ns);
        return;
    }
    for (unsigned q = SW_QUEUES; q-- > 0;) {
        sw_fifo *f = &port->queues[q];
        if (!f->first)
            continue;
        sw_pkt *p = fifo_take(f);
        port->queued--;
        uint64_t bits = egress(e, p, number, now);
        if (bits && (port->rate_pps || port->rate_bps)) {
            uint64_t from = port->free_ns > now ? port->free_ns : now;
            port->free_ns = from + serialisation_ns(port, bits);
        }
        return;
    }
}

uint64_t sw_next_due(const sw_engine *e)
{
    uint64_t due = e->next_idle_ns;
    if (e->input.first)
        return e->now_ns;
    for (uint32_t i = 0; i < e->n_pending; i++) {
        uint64_t d = port_due(&e->ports[e->pending[i]]);
        due = d < due ? d : due;
    }
    return due;
}

void sw_run_until(sw_engine *e, uint64_t now)
{
    for (;;) {
        if (e->input.first) {
            ingress(e, fifo_take(&e->input));
            continue;
        }
        uint64_t first = UINT64_MAX;
        uint32_t which = 0;
        for (uint32_t i = 0; i < e->n_pending;) {
            sw_port *port = &e->ports[e->pending[i]];
            if (!port->queued && !port->wire.first) {
                port->listed = false;
                e->pending[i] = e->pending[--e->n_pending];
                continue;
            }
            uint64_t due = port_due(port);
            if (due < first) {
                first = due;
                which = e->pending[i];
            }
            i++;
        }
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
        service(e, which, first);
    }
    if (now > e->now_ns)
        e->now_ns = now;
}

void sw_receive(sw_engine *e, uint32_t number, const uint8_t *data, uint32_t len)
{
    if (number >= SW_PORTS)
        return;
    sw_port *port = &e->ports[number];
    port->rx_packets++;
    port->rx_octets += len;
    if (len > SW_MAX_FRAME) {
        e->oversize_drops++;
        return;
    }
    sw_pkt *p = pkt_with(e, data, len);
    if (!p)
        return;
    p->ingress_port = number;
    p->ingress_len = p->reg_len = len;
    prog->reset(p);
    prog->received(p, e->now_ns / 1000);
    ingress(e, p);
    sw_run_until(e, e->now_ns);
}
