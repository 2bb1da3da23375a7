#include "bytes.h"
#include "log.h"
#include "requester.h"
#include "roles.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Longest delay behind its schedule that a QP makes up for; more is lost sending time. */
#define MAX_LAG_NS 2000000ull
#define MAX_WINDOW ((1u << 23) - 1)

/* What PAUSE frames did to the priority of the queue pairs. */
struct hold {
    unsigned priority;
    uint64_t until, total; /* total: in ns, those of the hold that lasts included */
    uint64_t frames;       /* for other priorities, too */
};

struct sender;

struct send_qp {
    struct sender *sender;
    struct requester requester;
    uint64_t logged_packets, logged_octets;
};

struct sender {
    const struct options *options;
    struct roce_port port;
    struct send_qp qps[MAX_QPS];
    unsigned qp_count;
    bool failed;
    uint64_t unknown_qp;
    uint64_t start; /* of the first round */
    struct hold hold;
};

/* What a requester does to the world. */

static void send_packet(void *context, struct roce_packet *packet, uint64_t now)
{
    struct send_qp *qp = context;
    struct cm_message message;

    roce_port_send(&qp->sender->port, packet);
    if (packet->dest_qp == QP_CONNECTION_MANAGER &&
        cm_parse(packet->payload, packet->payload_len, &message))
        log_event(qp->sender->options->log, now, "cm",
                  "\"direction\":\"sent\",\"message\":\"%s\",\"qp\":%" PRIu32,
                  cm_attribute_name(message.attribute), qp->requester.local_qp);
}

static void completed(void *context, const struct requester *r, const struct message *m,
                      uint64_t now)
{
    (void)context, (void)r, (void)m, (void)now; /* packets are logged, messages are not */
}

static void on_notice(void *context, const struct requester *r, enum roce_notice what,
                      uint64_t value, const struct ip_address *peer, uint64_t now)
{
    const struct send_qp *qp = context;
    FILE *log = qp->sender->options->log;
    const char *name = what == NOTICE_NAK       ? "nak"
                       : what == NOTICE_TIMEOUT ? "timeout"
                                                : "retransmission";

    (void)peer;
    if (what == NOTICE_CONNECTED)
        log_event(log, now, "connected", "\"qp\":%" PRIu32 ",\"remote_qp\":%" PRIu32,
                  r->local_qp, r->remote_qp);
    else if (what == NOTICE_NAK || what == NOTICE_TIMEOUT || what == NOTICE_RETRANSMISSION)
        log_event(log, now, name, "\"qp\":%" PRIu32 ",\"%s\":%" PRIu64, r->local_qp,
                  what == NOTICE_RETRANSMISSION ? "packets" : "packet", value);
}

static struct requester_io io_of(struct send_qp *qp)
{
    return (struct requester_io){qp, send_packet, completed, on_notice};
}

/* Packets received. */

static struct send_qp *find_qp(struct sender *s, uint32_t local_qp)
{
    for (unsigned i = 0; i < s->qp_count; i++)
        if (s->qps[i].requester.local_qp == local_qp)
            return &s->qps[i];
    return NULL;
}

static struct send_qp *find_comm_id(struct sender *s, uint32_t comm_id)
{
    for (unsigned i = 0; i < s->qp_count; i++)
        if (s->qps[i].requester.local_comm_id == comm_id && comm_id != 0)
            return &s->qps[i];
    return NULL;
}

static void on_cm(struct sender *s, const struct roce_packet *packet, uint64_t now)
{
    struct cm_message message;

    if (!cm_parse(packet->payload, packet->payload_len, &message))
        return;
    struct send_qp *qp = find_comm_id(s, message.remote_comm_id);
    if (!qp)
        return;
    struct requester *r = &qp->requester;
    struct requester_io io = io_of(qp);
    bool connecting = r->state == CONNECTING;
    log_event(s->options->log, now, "cm",
              "\"direction\":\"received\",\"message\":\"%s\",\"qp\":%" PRIu32,
              cm_attribute_name(message.attribute), r->local_qp);
    requester_on_cm(r, &io, &message, now);
    if (connecting && r->state == FAILED) {
        fprintf(stderr, "fcn-roce: the receiver rejected the connection, reason %u\n",
                message.reject_reason);
        s->failed = true;
    }
}

static void on_cnp(struct sender *s, const struct roce_packet *packet, uint64_t now)
{
    FILE *log = s->options->log;
    char from[INET6_ADDRSTRLEN];
    struct send_qp *qp = find_qp(s, packet->dest_qp);

    if (!qp || qp->requester.state != CONNECTED || packet->payload_len != CNP_PAYLOAD) {
        s->unknown_qp++;
        log_event(log, now, "cnp_rejected", "\"qp\":%" PRIu32 ",\"src\":\"%s\"", packet->dest_qp,
                  ip_address_format(&packet->src, from));
        return;
    }
    struct requester *r = &qp->requester;
    struct requester_io io = io_of(qp);
    dcqcn_advance(&r->rp, now);
    double before = r->rp.current_rate;
    uint64_t cuts = r->cuts;
    requester_on_cnp(r, &io, packet, now);
    log_event(log, now, "cnp",
              "\"qp\":%" PRIu32 ",\"src\":\"%s\",\"udp_src_port\":%u,\"cut\":%s,"
              "\"rate_before_bps\":%.0f,\"rate_bps\":%.0f,\"alpha\":%.6f",
              r->local_qp, ip_address_format(&packet->src, from), packet->udp_src_port,
              r->cuts > cuts ? "true" : "false", before, r->rp.current_rate, r->rp.alpha);
}

static void on_ack(struct sender *s, const struct roce_packet *packet, uint64_t now)
{
    struct send_qp *qp = find_qp(s, packet->dest_qp);

    if (!qp || !ip_address_equal(&qp->requester.params.remote, &packet->src)) {
        s->unknown_qp++;
        return;
    }
    struct requester_io io = io_of(qp);
    requester_on_ack(&qp->requester, &io, packet, now);
}

static void hold(struct hold *h, uint64_t time, uint64_t now)
{
    uint64_t left = h->until > now ? h->until - now : 0;

    h->total = h->total - left + time;
    h->until = now + time;
}

/* A PAUSE frame replaces what an earlier one said; one of time 0 ends the hold. */
static void on_pause(struct sender *s, const struct pfc_frame *frame, uint64_t now)
{
    s->hold.frames++;
    for (unsigned i = 0; i < PFC_PRIORITIES; i++) {
        if (!(frame->vector >> i & 1))
            continue;
        uint64_t time = pfc_ns(frame->quanta[i], s->options->link_rate);
        bool ours = i == s->hold.priority;
        if (ours)
            hold(&s->hold, time, now);
        log_event(s->options->log, now, "pause",
                  "\"priority\":%u,\"quanta\":%u,\"hold_ns\":%" PRIu64 ",\"qps\":%u", i,
                  frame->quanta[i], time, ours ? s->qp_count : 0);
    }
}

static void receive_batch(struct sender *s)
{
    struct pfc_frame pause;
    uint8_t buffer[ROCE_MAX_PACKET];
    struct roce_packet packet;

    for (int i = 0; i < RECEIVE_BATCH && roce_port_receive(&s->port, buffer, &packet); i++) {
        uint64_t now = now_ns();
        if (packet.opcode == OPCODE_CNP)
            on_cnp(s, &packet, now);
        else if (packet.opcode == UD_SEND_ONLY && packet.dest_qp == QP_CONNECTION_MANAGER)
            on_cm(s, &packet, now);
        else if (packet.opcode == RC_ACKNOWLEDGE)
            on_ack(s, &packet, now);
        else
            s->unknown_qp++;
    }
    for (int i = 0; i < RECEIVE_BATCH && roce_port_receive_pause(&s->port, &pause); i++)
        on_pause(s, &pause, now_ns());
}

/* Packets sent. */

/* Run the timers that are due; returns when the next one is. */
static uint64_t run_timers(struct sender *s, uint64_t now)
{
    uint64_t next = ROCE_NEVER;

    for (unsigned i = 0; i < s->qp_count; i++) {
        struct requester *r = &s->qps[i].requester;
        struct requester_io io = io_of(&s->qps[i]);
        if (requester_timer_due(r) <= now)
            requester_timers(r, &io, now);
        if (requester_timer_due(r) < next)
            next = requester_timer_due(r);
    }
    return next;
}

/* When a message that is posted now begins: at once, or with the next round. */
static uint64_t begins(const struct sender *s, uint64_t now)
{
    const struct options *o = s->options;
    uint64_t into = o->round ? (now - s->start) % o->round : 0;

    return into < o->round_sending ? now : now - into + o->round;
}

/* The series of RDMA WRITEs is endless. */
static bool post(const struct sender *s, struct requester *r, uint64_t now)
{
    const struct options *o = s->options;

    return r->next < r->posted ||
           requester_post(r, 0, (uint64_t)o->message_packets * o->mtu, begins(s, now));
}

/* Send the packets that are due; returns the time at which the next one is. */
static uint64_t send_due(struct sender *s, uint64_t now)
{
    uint64_t next = ROCE_NEVER;
    bool held = s->hold.until > now;

    for (unsigned i = 0; i < s->qp_count; i++) {
        struct requester *r = &s->qps[i].requester;
        struct requester_io io = io_of(&s->qps[i]);
        dcqcn_advance(&r->rp, now);
        if (r->state != CONNECTED || !post(s, r, now))
            continue;
        if (requester_data_due(r) <= now && !held) {
            requester_send(r, &io, now);
            post(s, r, now);
        }
        if (requester_data_due(r) < next)
            next = requester_data_due(r);
    }
    return held && next < s->hold.until ? s->hold.until : next;
}

static void log_rates(struct sender *s, uint64_t now)
{
    for (unsigned i = 0; i < s->qp_count; i++) {
        struct send_qp *qp = &s->qps[i];
        struct requester *r = &qp->requester;
        dcqcn_advance(&r->rp, now);
        log_event(s->options->log, now, "rate",
                  "\"qp\":%" PRIu32 ",\"rate_bps\":%.0f,\"target_bps\":%.0f,\"alpha\":%.6f,"
                  "\"packets\":%" PRIu64 ",\"octets\":%" PRIu64,
                  r->local_qp, r->rp.current_rate, r->rp.target_rate, r->rp.alpha,
                  r->packets - qp->logged_packets, r->octets - qp->logged_octets);
        qp->logged_packets = r->packets;
        qp->logged_octets = r->octets;
    }
    fflush(s->options->log);
}

/* Reaction points begin anew: line rate, alpha 1, no cut. */
static void reset(struct sender *s, uint64_t now)
{
    for (unsigned i = 0; i < s->qp_count; i++)
        dcqcn_init(&s->qps[i].requester.rp, &s->options->dcqcn);
    log_event(s->options->log, now, "reset", "\"qps\":%u", s->qp_count);
    log_rates(s, now);
}

/* How many queue pairs are in a state. */
static unsigned count_in(const struct sender *s, enum requester_state state)
{
    unsigned count = 0;

    for (unsigned i = 0; i < s->qp_count; i++)
        count += s->qps[i].requester.state == state;
    return count;
}

static void set_up_qps(struct sender *s)
{
    const struct options *o = s->options;
    uint64_t now = now_ns();
    uint32_t seed = (uint32_t)now;
    struct requester_params params = {
        .local = o->local,
        .remote = o->remote,
        .mtu = o->mtu,
        .dscp = o->dscp,
        .ecn = o->ecn,
        .window = MAX_WINDOW,
        .timeout = o->timeout,
        .retries = UINT_MAX,
        .service_id = o->service_id,
        .cm_timeout = o->cm_timeout,
        .cm_retries = o->cm_retries,
        .max_lag = MAX_LAG_NS,
        .dcqcn = o->dcqcn,
    };

    s->qp_count = o->pair_count ? o->pair_count : o->qp_count;
    for (unsigned i = 0; i < s->qp_count; i++) {
        struct send_qp *qp = &s->qps[i];
        uint32_t local = o->pair_count ? o->pairs[i].local : o->first_qp + i;
        uint32_t comm_id = o->pair_count ? 0 : (seed & 0xffffff00u) + 1 + i;
        qp->sender = s;
        requester_init(&qp->requester, &params, local, comm_id, seed * 2654435761u + i * 40503u);
        if (o->pair_count)
            requester_join(&qp->requester, o->pairs[i].remote);
        else
            requester_connect(&qp->requester, now);
    }
}

/* Handle packets and CM timers until every QP is in state. */
static void run_until(struct sender *s, enum requester_state state)
{
    while (!s->failed && !stop_requested && count_in(s, state) < s->qp_count) {
        uint64_t now = now_ns();
        run_timers(s, now);
        if (count_in(s, FAILED)) {
            fprintf(stderr, "fcn-roce: no answer to %u CM requests\n", s->options->cm_retries);
            s->failed = true;
            break;
        }
        roce_port_wait(&s->port, now + s->options->log_interval);
        receive_batch(s);
    }
    fflush(s->options->log);
}

static void transmit(struct sender *s)
{
    const struct options *o = s->options;
    uint64_t now = now_ns();
    uint64_t start = o->start_at > now ? o->start_at : now;
    uint64_t log_at = start + o->log_interval;

    while (!stop_requested && (now = now_ns()) < start) {
        roce_port_wait(&s->port, start);
        receive_batch(s);
    }
    log_event(o->log, now, "sending", "\"qps\":%u", s->qp_count);
    log_rates(s, now);
    uint64_t end = now + o->duration;
    uint64_t reset_at = o->round ? start + o->round_reset : ROCE_NEVER;
    s->start = start;
    bool sending = true;
    while (!stop_requested && (now = now_ns()) < end + o->hold) {
        uint64_t next = ROCE_NEVER;
        if (finish_requested && now < end)
            end = now;
        if (now < end) {
            if (now >= reset_at) {
                reset(s, now);
                reset_at += o->round;
            }
            uint64_t timer = run_timers(s, now), data = send_due(s, now);
            next = timer < data ? timer : data;
            next = next < reset_at ? next : reset_at;
        } else if (sending) {
            sending = false;
            log_event(o->log, now, "finished", "\"qps\":%u", s->qp_count);
            fflush(o->log);
        }
        if (now >= log_at) {
            log_rates(s, now);
            log_at += o->log_interval;
        }
        roce_port_wait(&s->port, next < log_at ? next : log_at);
        receive_batch(s);
    }
    log_rates(s, now_ns());
}

static void disconnect(struct sender *s)
{
    uint64_t now = now_ns();

    log_event(s->options->log, now, "stopped", "\"qps\":%u", s->qp_count);
    stop_requested = 0;
    if (s->options->pair_count)
        return;
    for (unsigned i = 0; i < s->qp_count; i++)
        requester_disconnect(&s->qps[i].requester, now);
    run_until(s, CLOSED);
}

static void log_start(const struct sender *s)
{
    const struct options *o = s->options;
    const struct dcqcn_params *p = &o->dcqcn;
    char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];

    log_event(o->log, now_ns(), "start",
              "\"role\":\"sender\",\"local\":\"%s\",\"remote\":\"%s\",\"mtu\":%u,\"qps\":%u,"
              "\"line_rate_bps\":%.0f,\"min_rate_bps\":%.0f,\"g\":%.9f,\"ai_bps\":%.0f,"
              "\"hai_bps\":%.0f,\"alpha_ns\":%" PRIu64 ",\"increase_ns\":%" PRIu64
              ",\"byte_counter\":%" PRIu64 ",\"fast_recovery\":%u,\"cut_interval_ns\":%" PRIu64,
              ip_address_format(&o->local, local), ip_address_format(&o->remote, remote), o->mtu,
              s->qp_count, p->line_rate, p->min_rate, p->g, p->additive_increase,
              p->hyper_increase, p->alpha_period, p->increase_period, p->byte_counter,
              p->fast_recovery_steps, p->cut_interval);
}

int run_sender(const struct options *options)
{
    static struct sender sender;
    struct sender *s = &sender;

    s->options = options;
    s->hold.priority = pfc_priority(options->dscp);
    if (!roce_port_open(&s->port, &options->local))
        return 1;
    if (options->link_rate && !roce_port_heed_pauses(&s->port)) {
        roce_port_close(&s->port);
        return 1;
    }
    set_up_qps(s);
    log_start(s);
    run_until(s, CONNECTED);
    if (count_in(s, CONNECTED) == s->qp_count) {
        transmit(s);
        disconnect(s);
    }
    uint64_t now = now_ns();
    for (unsigned i = 0; i < s->qp_count; i++) {
        struct requester *r = &s->qps[i].requester;
        log_event(options->log, now, "qp_summary",
                  "\"qp\":%" PRIu32 ",\"remote_qp\":%" PRIu32 ",\"packets\":%" PRIu64
                  ",\"octets\":%" PRIu64 ",\"retransmitted\":%" PRIu64 ",\"acks\":%" PRIu64
                  ",\"naks\":%" PRIu64 ",\"timeouts\":%" PRIu64 ",\"cnps\":%" PRIu64
                  ",\"cuts\":%" PRIu64,
                  r->local_qp, r->remote_qp, r->packets, r->octets, r->retransmitted, r->acks,
                  r->naks, r->timeouts, r->cnps, r->cuts);
        requester_free(r);
    }
    if (options->link_rate) {
        hold(&s->hold, 0, now);
        log_event(options->log, now, "pauses",
                  "\"priority\":%u,\"frames\":%" PRIu64 ",\"ignored\":%" PRIu64
                  ",\"held_ns\":%" PRIu64,
                  s->hold.priority, s->hold.frames, s->port.pause_ignored, s->hold.total);
    }
    log_port_summary(options->log, now, &s->port, s->unknown_qp);
    roce_port_close(&s->port);
    return s->failed;
}
