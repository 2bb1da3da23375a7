/* The role of a RoCEv2 host: the protocol code of fcn-roce on a simulated interface. */
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "lab_ethernet.h"
#include "lab_job.h"
#include "lab_neighbor.h"
#include "responder.h"

#define QPS (1u << 24)

typedef struct {
    lab_role role;
    lab_host *host;
    uint32_t node;
    lab_roce_options options;
    struct ip_address address;
    uint16_t ipv4_id;
    struct requester *requesters;
    /* When a requester's timers and its next packet are due; and whose are due first. */
    uint64_t *timers, *data;
    uint32_t first_timer, first_data;
    bool *told_by_switch; /* whether its last CNP was made by a switch; its cut may be later */
    uint32_t n_requesters;
    struct responder *responders;
    uint32_t n_responders;
    uint32_t *told; /* of each responder the channel of a job, and one more; 0: none */
    uint32_t n_told;
    uint64_t verdicts[ROCE_VERDICTS], unknown_qp;
    bool from_switch; /* what is being received was made by a switch */
} roce;

static void send_packet(void *context, struct roce_packet *packet, uint64_t now)
{
    roce *r = context;
    _Static_assert(SW_FAR == ROCE_BEHIND_GAP + ICRC_LENGTH, "both have the gap at the same place");
    uint32_t len = ETHERNET_HEADER + (uint32_t)roce_length(packet);
    sw_frame *f = packet->zeros ? lab_host_frame_of_zeros(r->host, len) : lab_host_frame(r->host, len);
    if (!f)
        return;
    packet->ipv4_id = r->ipv4_id++;
    uint8_t *out = f->data + f->head;
    memcpy(out, r->options.gateway_mac, 6);
    memcpy(out + 6, r->options.mac, 6);
    put16(out + ETHERNET_TYPE, packet->src.version == 4 ? TYPE_IPV4 : TYPE_IPV6);
    roce_build(packet, f->gap, out + ETHERNET_HEADER, len - f->gap - ETHERNET_HEADER);
    lab_host_send(r->host, now, f);
}

static void completed(void *context, const struct requester *q, const struct message *m,
                      uint64_t now)
{
    roce *r = context;
    lab_completion *done = lab_list_add(&r->host->lab->completions);
    if (done)
        *done = (lab_completion){
            r->node, q->local_qp - r->options.first_qp, m->id, m->size, m->start, now};
}

static void notify(const roce *r, uint32_t connection, enum roce_notice what, uint64_t value,
                   const struct ip_address *peer, bool by_switch, uint64_t now)
{
    lab_notice *notice = lab_list_add(&r->host->lab->notices);
    if (!notice)
        return;
    *notice = (lab_notice){
        .time = now,
        .value = value,
        .node = r->node,
        .connection = connection,
        .what = (uint16_t)what,
        .version = (uint8_t)peer->version,
        .by_switch = by_switch,
    };
    memcpy(notice->peer, peer->octets, peer->version == 4 ? 4 : sizeof notice->peer);
}

static void requester_notice(void *context, const struct requester *q, enum roce_notice what,
                             uint64_t value, const struct ip_address *peer, uint64_t now)
{
    const roce *r = context;
    uint32_t i = q->local_qp - r->options.first_qp;
    if (what == NOTICE_CNP)
        r->told_by_switch[i] = r->from_switch;
    /* What rates follow by delay does not heed CNPs. */
    bool of_cnp = what == NOTICE_CNP || (what == NOTICE_CUT && q->params.delay.kind == DELAY_NONE);
    notify(r, i, what, value, peer, of_cnp && r->told_by_switch[i], now);
}

static void responder_notice(void *context, const struct responder *s, enum roce_notice what,
                             uint64_t value, uint64_t now)
{
    const roce *r = context;
    notify(r, s->local_qp - r->options.first_accepted_qp, what, value, &s->peer, false, now);
}

static struct requester_io requester_io(roce *r)
{
    return (struct requester_io){r, send_packet, completed, requester_notice};
}

static struct responder_io responder_io(roce *r)
{
    return (struct responder_io){r, send_packet, responder_notice};
}

/* The first of the least of n times. */
static uint32_t first_of(const uint64_t *times, uint32_t n)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < n; i++)
        if (times[i] < times[first])
            first = i;
    return first;
}

/* Set one of n times, of which `first` is the first. */
static void set_time(uint64_t *times, uint32_t n, uint32_t *first, uint32_t i, uint64_t at)
{
    times[i] = at;
    if (i == *first)
        *first = first_of(times, n);
    else if (at < times[*first] || (at == times[*first] && i < *first))
        *first = i;
}

/* Note when a requester acts next. While it waits long for its turn its rate may rise. */
static void note(roce *r, uint32_t i)
{
    const struct requester *q = &r->requesters[i];
    uint64_t data = requester_data_due(q);
    if (data != ROCE_NEVER && q->rp.increase_due < data)
        data = q->rp.increase_due;
    set_time(r->timers, r->n_requesters, &r->first_timer, i, requester_timer_due(q));
    set_time(r->data, r->n_requesters, &r->first_data, i, data);
    const struct requester *next = &r->requesters[r->first_data];
    r->host->lab->uses[r->host->actor.number] = (lab_uses){r, r->host->out, next, sizeof *next};
}

static uint64_t roce_due(const lab_role *role, const lab_host *h)
{
    const roce *r = (const roce *)role;
    if (!r->n_requesters)
        return LAB_NEVER;
    uint64_t due = r->timers[r->first_timer], data = r->data[r->first_data];
    uint64_t free_at = lab_host_free_at(h, lab_host_queue(h, r->options.params.dscp));
    if (data != LAB_NEVER && data < free_at)
        data = free_at;
    return data < due ? data : due;
}

static void roce_act(lab_role *role, lab_host *h, uint64_t now)
{
    roce *r = (roce *)role;
    if (!r->n_requesters)
        return;
    struct requester_io io = requester_io(r);
    for (uint32_t i = 0; r->timers[r->first_timer] <= now && i < r->n_requesters; i++)
        if (r->timers[i] <= now) {
            requester_timers(&r->requesters[i], &io, now);
            note(r, i);
        }
    unsigned queue = lab_host_queue(h, r->options.params.dscp);
    while (r->data[r->first_data] <= now && lab_host_free_at(h, queue) <= now) {
        uint32_t i = r->first_data;
        struct requester *q = &r->requesters[i];
        dcqcn_advance(&q->rp, now);
        if (requester_data_due(q) <= now)
            requester_send(q, &io, now);
        note(r, i);
    }
}

static struct requester *requester_of(roce *r, uint32_t qp)
{
    uint32_t i = qp - r->options.first_qp;
    return i < r->n_requesters ? &r->requesters[i] : NULL;
}

/* Communication IDs are unique per host only: the peer's address belongs to the key. */
static struct responder *find_connection(roce *r, const struct ip_address *peer, uint32_t comm_id)
{
    for (uint32_t i = 0; i < r->n_responders; i++) {
        struct responder *s = &r->responders[i];
        if (s->remote_comm_id == comm_id && ip_address_equal(&s->peer, peer))
            return s;
    }
    return NULL;
}

/* A queue pair number is one, and none of those from `first` on. */
static bool is_free(uint32_t qp, uint32_t first, uint32_t used)
{
    return qp < QPS && (qp < first || qp - first >= used);
}

static struct responder *accept_connection(roce *r, const struct roce_packet *packet,
                                           const struct cm_message *req)
{
    const lab_roce_options *o = &r->options;
    if (r->n_responders == LAB_MAX_ACCEPTED ||
        !is_free(o->first_accepted_qp + r->n_responders, o->first_qp, r->n_requesters))
        return NULL;
    struct responder *all = realloc(r->responders, (r->n_responders + 1) * sizeof *all);
    if (!all)
        return NULL;
    r->responders = all;
    uint32_t i = r->n_responders++;
    uint32_t comm_id = (uint32_t)lab_random_next(&r->host->random);
    responder_init(&all[i], &r->address, &packet->src, req, r->options.first_accepted_qp + i, comm_id);
    return &all[i];
}

static void on_cm(roce *r, const struct roce_packet *packet, uint64_t now)
{
    struct cm_message message;
    if (!cm_parse(packet->payload, packet->payload_len, &message))
        return;
    struct requester_io io = requester_io(r);
    for (uint32_t i = 0; i < r->n_requesters; i++)
        if (message.remote_comm_id && r->requesters[i].local_comm_id == message.remote_comm_id &&
            ip_address_equal(&r->requesters[i].params.remote, &packet->src)) {
            requester_on_cm(&r->requesters[i], &io, &message, now);
            note(r, i);
            return;
        }
    struct responder_io answers = responder_io(r);
    struct responder *s = find_connection(r, &packet->src, message.local_comm_id);
    uint16_t reason = CM_REJECT_NO_RESOURCES;
    if (message.attribute == CM_REQ && message.service_id != r->options.params.service_id) {
        s = NULL;
        reason = CM_REJECT_INVALID_SERVICE_ID;
    } else if (message.attribute == CM_REQ && !s) {
        s = accept_connection(r, packet, &message);
    }
    responder_answer(s, &answers, packet, &message, reason, now);
}

static void on_data(roce *r, const struct roce_packet *packet, size_t len, uint64_t now)
{
    uint32_t i = packet->dest_qp - r->options.first_accepted_qp;
    struct responder *s = i < r->n_responders ? &r->responders[i] : NULL;
    if (!s || !responder_takes(s, packet)) {
        r->unknown_qp++;
        return;
    }
    const lab_roce_options *o = &r->options;
    const struct requester_params *p = &o->params;
    struct responder_params params = {p->dscp, o->cnp_interval, p->selective ? p->window : 0};
    struct responder_io io = responder_io(r);
    uint64_t before = s->messages;
    responder_on_data(s, &params, &io, packet, len, now);
    for (; i < r->n_told && r->told[i] && before != s->messages; before++)
        lab_job_received(r->host->lab, r->told[i] - 1, now);
}

static void on_answer(roce *r, const struct roce_packet *packet, uint64_t now)
{
    struct requester_io io = requester_io(r);
    struct requester *q = requester_of(r, packet->dest_qp);
    if (!q) {
        r->unknown_qp++;
        return;
    }
    /* A CNP may come from a network node, so its source address says nothing. */
    if (packet->opcode == OPCODE_CNP)
        requester_on_cnp(q, &io, packet, now);
    else if (ip_address_equal(&q->params.remote, &packet->src))
        requester_on_ack(q, &io, packet, now);
    else
        r->unknown_qp++;
    note(r, packet->dest_qp - r->options.first_qp);
}

/* The queue pair that a packet is for is in no cache, either: fetch it while the packet is checked. */
static inline __attribute__((always_inline)) void fetch_responder(const roce *r, const uint8_t *ip)
{
    size_t udp = ip[0] >> 4 == 4 ? IPV4_HEADER : IPV6_HEADER;
    uint32_t i = get24(ip + udp + UDP_HEADER + BTH_DEST_QP) - r->options.first_accepted_qp;
    if (i < r->n_responders)
        for (size_t at = 0; at < sizeof *r->responders; at += 64)
            __builtin_prefetch((const uint8_t *)&r->responders[i] + at, 1);
}

static void roce_arrive(lab_role *role, lab_host *h, uint64_t now, const sw_frame *f)
{
    roce *r = (roce *)role;
    const uint8_t *frame = f->data + f->head;
    uint32_t len = f->len;
    struct roce_packet packet;
    r->from_switch = f->born == UINT64_MAX;
    sw_frame *answer = lab_neighbor_answer(h, r->options.mac, &r->address, f);
    if (LAB_UNLIKELY(answer)) {
        lab_host_send(h, now, answer);
        return;
    }
    bool ip = len > ETHERNET_HEADER && memcmp(frame, r->options.mac, 6) == 0;
    enum roce_verdict verdict = ROCE_NOT_OURS;
    if (len >= ETHERNET_HEADER + IPV6_HEADER + UDP_HEADER + BTH_HEADER)
        fetch_responder(r, frame + ETHERNET_HEADER);
    if (ip)
        verdict = roce_parse(frame + ETHERNET_HEADER, len - ETHERNET_HEADER, f->gap, &packet);
    if (verdict == ROCE_OK && !ip_address_equal(&packet.dst, &r->address))
        verdict = ROCE_NOT_OURS;
    r->verdicts[verdict]++;
    if (verdict != ROCE_OK)
        return;
    if (packet.opcode == UD_SEND_ONLY && packet.dest_qp == QP_CONNECTION_MANAGER)
        on_cm(r, &packet, now);
    else if (packet.opcode >= RC_WRITE_FIRST && packet.opcode <= RC_WRITE_ONLY)
        on_data(r, &packet, len - ETHERNET_HEADER, now);
    else if (packet.opcode == OPCODE_CNP || packet.opcode == RC_ACKNOWLEDGE)
        on_answer(r, &packet, now);
    else
        r->unknown_qp++;
}

static void roce_free(lab_role *role)
{
    roce *r = (roce *)role;
    for (uint32_t i = 0; i < r->n_requesters; i++)
        requester_free(&r->requesters[i]);
    for (uint32_t i = 0; i < r->n_responders; i++)
        responder_free(&r->responders[i]);
    free(r->requesters);
    free(r->timers);
    free(r->data);
    free(r->told_by_switch);
    free(r->responders);
    free(r->told);
    free(r);
}

static roce *roce_of(const lab *l, uint32_t node)
{
    const lab_host *h = lab_host_of(l, node);
    return h && h->role && h->role->act == roce_act ? (roce *)h->role : NULL;
}

int64_t lab_roce(lab *l, uint32_t node, const lab_roce_options *options)
{
    lab_host *h = lab_host_of(l, node);
    if (!h)
        return LAB_ERR_NODE;
    roce *r = calloc(1, sizeof *r);
    if (!r)
        return LAB_ERR_MEMORY;
    r->role = (lab_role){roce_arrive, roce_act, roce_due, roce_free};
    r->host = h;
    r->node = node;
    r->options = *options;
    r->address = options->params.local;
    if (h->role)
        h->role->free(h->role);
    h->role = &r->role;
    lab_host_reschedule(h);
    return 0;
}

static bool widen(roce *r)
{
    uint32_t n = r->n_requesters + 1;
    struct requester *requesters = realloc(r->requesters, n * sizeof *requesters);
    if (requesters)
        r->requesters = requesters;
    uint64_t *timers = realloc(r->timers, n * sizeof *timers);
    if (timers)
        r->timers = timers;
    uint64_t *data = realloc(r->data, n * sizeof *data);
    if (data)
        r->data = data;
    bool *told = realloc(r->told_by_switch, n * sizeof *told);
    if (told) {
        told[n - 1] = false;
        r->told_by_switch = told;
    }
    return requesters && timers && data && told;
}

int64_t lab_roce_connect(lab *l, uint32_t node, const uint8_t *address, uint64_t at)
{
    roce *r = roce_of(l, node);
    if (!r || !r->host->line.rate_bps)
        return LAB_ERR_NODE;
    if (at < l->now)
        return LAB_ERR_TIME;
    const lab_roce_options *o = &r->options;
    if (!is_free(o->first_qp + r->n_requesters, o->first_accepted_qp, r->n_responders))
        return LAB_ERR_QP;
    if (!widen(r))
        return LAB_ERR_MEMORY;
    uint32_t i = r->n_requesters++;
    struct requester_params params = o->params;
    params.remote.version = r->address.version;
    memcpy(params.remote.octets, address, sizeof params.remote.octets);
    if (params.dcqcn.line_rate <= 0)
        params.dcqcn.line_rate = (double)r->host->line.rate_bps;
    params.delay.line_rate = params.dcqcn.line_rate;
    params.delay.min_rate = params.dcqcn.min_rate;
    uint64_t random = lab_random_next(&r->host->random);
    uint32_t psn = o->first_psn < 0 ? (uint32_t)(random >> 32) : (uint32_t)o->first_psn;
    requester_init(&r->requesters[i], &params, o->first_qp + i, (uint32_t)random | 1u, psn);
    requester_connect(&r->requesters[i], at);
    note(r, i);
    lab_host_reschedule(r->host);
    return i;
}

int64_t lab_roce_post(lab *l, uint32_t node, uint32_t connection, uint64_t id, uint64_t size,
                      uint64_t start)
{
    roce *r = roce_of(l, node);
    if (!r || connection >= r->n_requesters)
        return LAB_ERR_NODE;
    if (start < l->now)
        return LAB_ERR_TIME;
    if (!requester_post(&r->requesters[connection], id, size, start))
        return LAB_ERR_MEMORY;
    note(r, connection);
    lab_host_reschedule(r->host);
    return 0;
}

int64_t lab_roce_tell(lab *l, uint32_t node, uint32_t responder, uint32_t channel)
{
    roce *r = roce_of(l, node);
    if (!r || responder >= r->n_responders)
        return LAB_ERR_NODE;
    if (responder >= r->n_told) {
        uint32_t *told = realloc(r->told, (responder + 1) * sizeof *told);
        if (!told)
            return LAB_ERR_MEMORY;
        r->told = told;
        memset(told + r->n_told, 0, (responder + 1 - r->n_told) * sizeof *told);
        r->n_told = responder + 1;
    }
    r->told[responder] = channel + 1;
    return 0;
}

int64_t lab_roce_disconnect(lab *l, uint32_t node, uint32_t connection)
{
    roce *r = roce_of(l, node);
    if (!r || connection >= r->n_requesters)
        return LAB_ERR_NODE;
    requester_disconnect(&r->requesters[connection], l->now);
    note(r, connection);
    lab_host_reschedule(r->host);
    return 0;
}

int64_t lab_roce_requester(lab *l, uint32_t node, uint32_t connection, lab_requester_stats *out)
{
    roce *r = roce_of(l, node);
    if (!r || connection >= r->n_requesters)
        return LAB_ERR_NODE;
    struct requester *q = &r->requesters[connection];
    dcqcn_advance(&q->rp, l->now);
    *out = (lab_requester_stats){
        q->state, q->local_qp, q->remote_qp,
        requester_rate(q), q->rp.target_rate, q->rp.alpha,
        q->packets, q->octets, q->retransmitted, q->acknowledged, q->highest,
        q->acks, q->naks, q->timeouts, q->cnps, q->cuts,
    };
    return 0;
}

int64_t lab_roce_responder(const lab *l, uint32_t node, uint32_t connection,
                           lab_responder_stats *out)
{
    const roce *r = roce_of(l, node);
    if (!r || connection >= r->n_responders)
        return LAB_ERR_NODE;
    const struct responder *s = &r->responders[connection];
    *out = (lab_responder_stats){
        s->local_qp, s->remote_qp, s->packets, s->octets, s->payload, s->messages, s->marked,
        s->cnps, s->naks, s->beyond_gap, s->repeated,
    };
    return 0;
}

int64_t lab_roce_refused_of(const lab *l, uint32_t node, lab_roce_refused *out)
{
    const roce *r = roce_of(l, node);
    if (!r)
        return LAB_ERR_NODE;
    *out = (lab_roce_refused){
        r->verdicts[ROCE_NOT_ROCE], r->verdicts[ROCE_BAD_LENGTH], r->verdicts[ROCE_BAD_CHECKSUM],
        r->verdicts[ROCE_BAD_ICRC], r->verdicts[ROCE_NOT_OURS], r->unknown_qp,
    };
    return 0;
}
