#include "lab_pfc.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "lab_ethernet.h"
#include "lab_host.h"
#include "pfc.h"

#define NS_PER_S 1000000000u

static uint64_t pause_ns(const lab_pfc *p, uint32_t quanta)
{
    return pfc_ns(quanta, p->options.rate_bps);
}

static void record(lab_pfc *p, uint64_t now, uint32_t priority, uint32_t quanta, bool sent)
{
    lab_pause *pause = lab_list_add(&p->lab->pauses);
    if (pause)
        *pause = (lab_pause){
            now, pause_ns(p, quanta), p->node, p->port, (uint16_t)quanta, (uint8_t)priority, sent};
}

static void reschedule(lab_pfc *p)
{
    uint64_t due = p->refresh_at < p->resume_at ? p->refresh_at : p->resume_at;
    lab_schedule(p->lab, p->actor.number, due);
}

/* Frames sent. */

static void send(lab_pfc *p, uint64_t now, uint32_t vector, uint32_t quanta)
{
    sw_frame *f = sw_frame_take(&p->lab->pool, SHORTEST_FRAME, 0);
    if (!f)
        return;
    uint8_t *out = f->data + f->head;
    memset(out, 0, SHORTEST_FRAME);
    memcpy(out, pfc_address, sizeof pfc_address);
    out[6] = 0x02; /* a local address, of node and port */
    put16(out + 8, p->node);
    put16(out + 10, p->port);
    put16(out + PFC_ETHER_TYPE_AT, PFC_ETHER_TYPE);
    put16(out + PFC_OPCODE_AT, PFC_OPCODE);
    put16(out + PFC_VECTOR_AT, vector);
    for (uint32_t i = 0; i < SW_PRIORITIES; i++)
        if (vector >> i & 1) {
            put16(out + PFC_TIMES_AT + 2 * i, quanta);
            record(p, now, i, quanta, true);
        }
    p->stats.sent++;
    if (p->at_switch)
        p->at_switch->api->send_control(p->at_switch->engine, p->port, f);
    else
        lab_host_control(p->at_host, now, f);
}

void lab_pfc_ask(lab_pfc *p, uint64_t now, uint32_t priority, bool pause)
{
    uint8_t bit = (uint8_t)(1u << priority);
    p->asked = pause ? p->asked | bit : p->asked & (uint8_t)~bit;
    send(p, now, bit, pause ? p->options.quanta : 0);
    if (!p->asked)
        p->refresh_at = LAB_NEVER;
    else if (p->refresh_at == LAB_NEVER)
        p->refresh_at = now + pause_ns(p, p->options.quanta) / 2;
    reschedule(p);
}

/* The memory of a host. */

static uint64_t drained(const lab_pfc *p, uint64_t now)
{
    return (uint64_t)((unsigned __int128)(now - p->drained_at) * p->options.drain_bps /
                      (8u * (uint64_t)NS_PER_S));
}

static void drain(lab_pfc *p, uint64_t now)
{
    uint64_t gone = drained(p, now);
    if (gone >= p->octets) {
        p->octets = 0;
        p->drained_at = now;
    } else if (gone) {
        p->octets -= gone;
        /* To the nanosecond in which the last of these octets went; the rest of the time counts for
         * the next. */
        unsigned __int128 bits = (unsigned __int128)gone * 8 * NS_PER_S;
        p->drained_at += (uint64_t)((bits + p->options.drain_bps - 1) / p->options.drain_bps);
    }
}

/* When no more than xon octets are left. */
static uint64_t drained_by(const lab_pfc *p)
{
    if (p->octets <= p->options.xon)
        return p->drained_at;
    unsigned __int128 bits = (unsigned __int128)(p->octets - p->options.xon) * 8 * NS_PER_S;
    return p->drained_at + (uint64_t)(bits / p->options.drain_bps) + 1;
}

static void ask_all(lab_pfc *p, uint64_t now, bool pause)
{
    for (uint32_t i = 0; i < SW_PRIORITIES; i++)
        if (p->options.priorities >> i & 1)
            lab_pfc_ask(p, now, i, pause);
}

bool lab_pfc_receive(lab_pfc *p, uint64_t now, const sw_frame *f)
{
    uint32_t bit = 1u << sw_frame_priority(f->data + f->head, f->len);
    if (!p->options.size || !p->options.drain_bps || !(p->options.priorities & bit))
        return true;
    drain(p, now);
    if (p->octets + f->len > p->options.size) {
        p->stats.dropped++;
        return false;
    }
    p->octets += f->len;
    if (p->octets > p->stats.peak)
        p->stats.peak = p->octets;
    if (p->octets > p->options.xoff && !p->asked)
        ask_all(p, now, true);
    if (p->asked) {
        p->resume_at = drained_by(p);
        reschedule(p);
    }
    return true;
}

static void resume(lab_pfc *p, uint64_t now)
{
    drain(p, now);
    p->resume_at = LAB_NEVER;
    if (p->octets > p->options.xon)
        p->resume_at = drained_by(p);
    else
        ask_all(p, now, false);
}

void lab_pfc_act(lab_pfc *p, uint64_t now)
{
    if (p->at_switch && p->at_switch->engine)
        p->at_switch->api->set_now(p->at_switch->engine, now);
    if (p->resume_at <= now)
        resume(p, now);
    if (p->refresh_at <= now) {
        p->refresh_at = now + pause_ns(p, p->options.quanta) / 2;
        send(p, now, p->asked, p->options.quanta);
    }
    reschedule(p);
    if (p->at_switch)
        lab_switch_reschedule(p->at_switch);
    else
        lab_host_reschedule(p->at_host);
}

/* Frames received. */

static void hold(lab_pfc *p, uint64_t now)
{
    if (!p->at_switch) {
        lab_host_reschedule(p->at_host);
        return;
    }
    uint64_t until = 0;
    for (uint32_t i = 0; i < SW_PRIORITIES; i++)
        until = p->paused_until[i] > until ? p->paused_until[i] : until;
    lab_switch *s = p->at_switch;
    s->api->set_now(s->engine, now);
    s->api->pause_queue(s->engine, p->port, p->options.queue, until);
    lab_switch_reschedule(s);
}

bool lab_pfc_on_frame(lab_pfc *p, uint64_t now, const sw_frame *f)
{
    struct pfc_frame frame;
    if (!pfc_parse(f->data + f->head, f->len, &frame))
        return false;
    uint32_t vector = frame.vector & p->options.priorities;
    p->stats.received++;
    for (uint32_t i = 0; i < SW_PRIORITIES; i++)
        if (vector >> i & 1) {
            uint32_t quanta = frame.quanta[i];
            p->paused_until[i] = now + pause_ns(p, quanta);
            record(p, now, i, quanta, false);
        }
    hold(p, now);
    return true;
}

/* Setting it up. */

static void on_pauser(void *context, uint32_t port, uint32_t priority, bool pause)
{
    const lab_switch *s = context;
    lab_pfc_ask(s->pfc[port], s->lab->now, priority, pause);
}

void lab_pfc_attach(lab_pfc *p)
{
    lab_switch *s = p->at_switch;
    uint8_t asked = p->asked;
    p->asked = 0;
    p->refresh_at = LAB_NEVER;
    reschedule(p);
    if (!s->engine)
        return;
    s->api->set_pauser(s->engine, on_pauser, s);
    if (p->options.size) {
        sw_ingress_limits limits = {
            p->options.xoff, p->options.xon, p->options.size, p->options.priorities};
        s->api->limit_ingress(s->engine, p->port, &limits);
    }
    if (asked)
        send(p, s->lab->now, asked, 0);
    hold(p, s->lab->now);
}

static lab_pfc **place_of(const lab *l, uint32_t node, uint32_t port)
{
    lab_switch *s = lab_switch_of(l, node);
    lab_host *h = lab_host_of(l, node);
    if (s)
        return port < LAB_PORTS ? &s->pfc[port] : NULL;
    return h && !port ? &h->pfc : NULL;
}

int64_t lab_set_pfc(lab *l, uint32_t node, uint32_t port, const lab_pfc_options *options)
{
    lab_pfc **place = place_of(l, node, port);
    if (!place)
        return LAB_ERR_PORT;
    if (!*place) {
        lab_pfc *p = calloc(1, sizeof *p);
        if (!p || !lab_add_actor(l, &p->actor, LAB_PFC, p)) {
            free(p);
            return LAB_ERR_MEMORY;
        }
        p->lab = l;
        p->at_switch = lab_switch_of(l, node);
        p->at_host = lab_host_of(l, node);
        p->node = node;
        p->port = port;
        p->refresh_at = p->resume_at = LAB_NEVER;
        *place = p;
    }
    (*place)->options = *options;
    if ((*place)->at_switch)
        lab_pfc_attach(*place);
    return 0;
}

int64_t lab_pfc_stats_of(const lab *l, uint32_t node, uint32_t port, lab_pfc_stats *out)
{
    lab_pfc **place = place_of(l, node, port);
    if (!place || !*place)
        return LAB_ERR_PORT;
    const lab_pfc *p = *place;
    const lab_switch *s = p->at_switch;
    *out = p->stats;
    uint64_t gone = drained(p, l->now);
    out->octets = gone < p->octets ? p->octets - gone : 0;
    const sw_ingress_use *use = s && s->engine ? s->api->ingress_use(s->engine, port) : NULL;
    if (use) {
        out->peak = use->peak;
        out->dropped = use->drops;
        for (uint32_t i = 0; i < SW_PRIORITIES; i++)
            out->octets += use->octets[i];
    }
    return 0;
}

void lab_keep_pauses(lab *l, size_t most) { l->pauses.most = most; }
size_t lab_pauses(const lab *l) { return l->pauses.n; }
uint64_t lab_pauses_lost(const lab *l) { return l->pauses.lost; }
size_t lab_take_pauses(lab *l, lab_pause *out, size_t n) { return lab_list_take(&l->pauses, out, n); }
