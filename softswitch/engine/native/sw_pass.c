/* The path of a packet as in simple_switch: ingress thread, traffic manager, egress thread. */
#include "sw_trace.h"

/* Most packets that wait for resubmission or recirculation; more are dropped. */
#define INPUT_CAPACITY 1024u
/* Most copies (clones, replicas, resubmissions, recirculations) one after another that go back to
 * one received packet; a program that makes them for ever would stop the switch. A packet that is
 * recirculated to the queue it came from and waits there each time may go round for ever: it is
 * still one packet. */
#define SW_COPIES 512u

void sw_fifo_put(sw_fifo *f, sw_pkt *p)
{
    p->next = NULL;
    if (f->last)
        f->last->next = p;
    else
        f->first = p;
    f->last = p;
    f->n++;
}

sw_pkt *sw_fifo_take(sw_fifo *f)
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

/* Copy of the packet without its headers, from where it had `len` octets. */
static sw_pkt *clone_data(sw_engine *e, const sw_pkt *p, uint32_t len)
{
    if (p->copies >= SW_COPIES) {
        e->loop_drops++;
        return NULL;
    }
    sw_pkt *c = sw_pkt_with(e, sw_data(p) - (len - p->len), len, p->frame->gap);
    if (c) {
        c->copies = p->copies + 1;
        prog->reset(c);
        c->ingress_len = p->ingress_len;
        c->ingress_port = p->ingress_port;
        c->reg_len = p->reg_len;
        e->copied++;
    }
    return c;
}

static sw_pkt *clone_headers(sw_engine *e, const sw_pkt *p)
{
    sw_pkt *c = clone_data(e, p, p->len);
    if (c)
        memcpy(c->phv, p->phv, prog->phv_size);
    return c;
}

static void replicate(sw_engine *e, sw_pkt *p, const sw_replica *r, uint32_t n, uint32_t truncate)
{
    for (uint32_t i = 0; i < n; i++) {
        prog->set_egress_rid(p, r[i].instance);
        sw_pkt *c = clone_headers(e, p);
        if (!c)
            continue;
        SW_TRACE(sw_trace_copied(e, p, c, SW_T_REPLICA, r[i].instance));
        if (truncate)
            c->truncated = truncate;
        sw_enqueue(e, c, r[i].port);
    }
}

static void clone_to_session(sw_engine *e, sw_pkt *c, uint16_t request)
{
    const sw_session *s = e->sessions[request & ~SW_SESSION_VALID];
    if (s->class_of_service)
        prog->set_priority(c, s->class_of_service);
    replicate(e, c, s->replicas, s->n, s->truncate);
    sw_pkt_end(e, c, SW_REPLACED);
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
    SW_TRACE(sw_trace_note(e, p, SW_T_DIGEST, p->learn_list));
    if (n)
        sw_emit_event(e, SW_EV_DIGEST, p->learn_list, 0, buf, n);
}

/* Put a resubmitted or recirculated packet in line; NULL is none. */
static void put_input(sw_engine *e, sw_pkt *c)
{
    if (c && e->input.n < INPUT_CAPACITY) {
        sw_fifo_put(&e->input, c);
    } else if (c) {
        e->input_drops++;
        sw_pkt_end(e, c, SW_INPUT_FULL);
    }
}

void sw_ingress(sw_engine *e, sw_pkt *p)
{
    uint32_t len = p->len, reg_len = p->reg_len;
    SW_TRACE(sw_trace_pass(e, p));
    prog->parse(e, p);
    prog->parsed(p);
    SW_TRACE(sw_trace_parsed(e, p));
    prog->ingress(e, p);
    SW_TRACE(sw_trace_flush(e, p));
    p->exit = false;

    uint16_t session = p->clone_session, list = p->clone_list;
    p->clone_session = p->clone_list = 0;
    if (session && !e->sessions[session & ~SW_SESSION_VALID])
        SW_TRACE(sw_trace_note(e, p, SW_T_NO_SESSION, session & ~SW_SESSION_VALID));
    if (session && e->sessions[session & ~SW_SESSION_VALID]) {
        sw_pkt *c = clone_data(e, p, len);
        if (c) {
            SW_TRACE(sw_trace_copied(e, p, c, SW_T_CLONE_I2E, session & ~SW_SESSION_VALID));
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
        sw_pkt *c = clone_data(e, p, len);
        if (c) {
            SW_TRACE(sw_trace_copied(e, p, c, SW_T_RESUBMIT, p->resubmit_list));
            prog->copy_fields(c, p, p->resubmit_list);
            prog->set_instance_type(c, SW_RESUBMIT);
            c->reg_len = reg_len;
            prog->set_packet_length(c, reg_len);
        }
        put_input(e, c);
        sw_pkt_end(e, p, SW_REPLACED);
        return;
    }
    uint32_t group = prog->mcast_grp(p);
    if (group) {
        const sw_mgroup *g = find_mgroup(e, group);
        SW_TRACE(sw_trace_note(e, p, SW_T_GROUP, group));
        prog->set_instance_type(p, SW_REPLICATION);
        if (g)
            replicate(e, p, g->replicas, g->n, 0);
        sw_pkt_end(e, p, g ? SW_REPLACED : SW_NO_QUEUE);
        return;
    }
    uint32_t port = prog->egress_spec(p);
    if (port == e->drop_port || p->dropped) {
        sw_pkt_end(e, p, p->dropped ? SW_FAILED : SW_INGRESS_DROP);
        return;
    }
    prog->set_instance_type(p, SW_NORMAL);
    sw_enqueue(e, p, port);
}

void sw_egress(sw_engine *e, sw_pkt *p, uint32_t number, uint64_t now)
{
    if (p->came_round && now > p->due_ns)
        p->copies = 0;
    p->came_round = false;
    prog->dequeued(p, now / 1000, sw_queued(&e->ports[number], p->queue), e->drop_port);
    SW_TRACE(sw_trace_egress(e, p));
    prog->egress(e, p);
    SW_TRACE(sw_trace_flush(e, p));

    uint16_t session = p->clone_session, list = p->clone_list;
    p->clone_session = p->clone_list = 0;
    if (session && !e->sessions[session & ~SW_SESSION_VALID])
        SW_TRACE(sw_trace_note(e, p, SW_T_NO_SESSION, session & ~SW_SESSION_VALID));
    if (session && e->sessions[session & ~SW_SESSION_VALID]) {
        sw_pkt *c = clone_headers(e, p);
        if (c) {
            SW_TRACE(sw_trace_copied(e, p, c, SW_T_CLONE_E2E, session & ~SW_SESSION_VALID));
            prog->reset_metadata(c);
            prog->copy_fields(c, p, list);
            prog->set_instance_type(c, SW_E2E_CLONE);
            clone_to_session(e, c, session);
        }
    }
    bool drop = prog->egress_spec(p) == e->drop_port || p->dropped;
    if (!drop) {
        SW_TRACE(sw_trace_note(e, p, SW_T_DEPARSER, 0));
        prog->deparse(e, p);
        SW_TRACE(sw_trace_flush(e, p));
        if (p->frame->gap)
            sw_pkt_settle(e, p);
    }
    if (drop || p->dropped) {
        sw_pkt_end(e, p, p->dropped ? SW_FAILED : SW_EGRESS_DROP);
        return;
    }
    if (p->recirculate_list) {
        /* Truncation is lost on recirculation: the copy is made from the whole buffer. */
        sw_pkt *c = clone_data(e, p, p->len);
        if (c) {
            SW_TRACE(sw_trace_copied(e, p, c, SW_T_RECIRCULATE, p->recirculate_list));
            prog->copy_fields(c, p, p->recirculate_list);
            prog->set_instance_type(c, SW_RECIRC);
            c->reg_len = c->ingress_len = c->len;
            c->came_round = true;
            c->egress_port = number;
            prog->set_packet_length(c, c->len);
        }
        put_input(e, c);
        sw_line_take(e, number, sw_size(p), now);
        sw_pkt_end(e, p, SW_REPLACED);
        return;
    }
    sw_transmit(e, p, number, now);
}

/* p has just been made, or is NULL when there was no memory. */
static void take_in(sw_engine *e, uint32_t number, sw_pkt *p)
{
    if (!p) {
        e->refused++;
        return;
    }
    e->received++;
    p->ingress_port = number;
    p->ingress_len = p->reg_len = p->len;
    if (SW_UNLIKELY(e->ports[number].ingress) && !sw_ingress_charge(e, p)) {
        sw_pkt_end(e, p, SW_INGRESS_FULL);
        return;
    }
    prog->reset(p);
    prog->received(p, e->now_ns / 1000);
    sw_ingress(e, p);
    sw_run_until(e, e->now_ns);
}

/* Whether a port takes a frame of this length, which it counts. */
static bool admit(sw_engine *e, uint32_t number, uint32_t len)
{
    if (number < SW_PORTS) {
        e->ports[number].rx_packets++;
        e->ports[number].rx_octets += len;
    }
    if (number < SW_PORTS && len <= SW_MAX_FRAME)
        return true;
    e->oversize_drops += len > SW_MAX_FRAME;
    e->refused++;
    return false;
}

void sw_receive(sw_engine *e, uint32_t number, const uint8_t *data, uint32_t len)
{
    if (admit(e, number, len))
        take_in(e, number, sw_pkt_with(e, data, len, 0));
}

void sw_receive_frame(sw_engine *e, uint32_t number, sw_frame *f)
{
    if (!admit(e, number, f->len)) {
        sw_frame_give(e->pool, f);
        return;
    }
    take_in(e, number, sw_pkt_of(e, f));
}
