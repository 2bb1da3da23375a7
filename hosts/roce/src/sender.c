#include "bytes.h"
#include "cm.h"
#include "log.h"
#include "roles.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Longest delay behind its schedule that a QP makes up for; more is lost sending time. */
#define MAX_LAG_NS 2000000ull
#define NS_PER_S 1000000000ull
/* Any R_Key and address will do: the receiver has no memory to protect. */
#define REMOTE_KEY 0x1000u

enum qp_state { CONNECTING, CONNECTED, DISCONNECTING, CLOSED };

struct send_qp {
    enum qp_state state;
    uint32_t local_qp, remote_qp;
    uint32_t psn;
    uint32_t local_comm_id, remote_comm_id;
    uint64_t retry_at;
    unsigned tries;
    struct dcqcn rp;
    uint64_t last_sent;
    size_t last_len;
    unsigned message_position;
    uint64_t packets, octets, acks, cnps, cuts;
    uint64_t logged_packets, logged_octets;
};

struct sender {
    const struct options *options;
    struct roce_port port;
    struct send_qp qps[MAX_QPS];
    unsigned qp_count;
    bool failed;
    uint64_t unknown_qp;
    uint8_t payload[ROCE_MAX_PAYLOAD];
};

static void send_cm(struct sender *s, const struct send_qp *qp, enum cm_attribute attribute,
                    uint64_t now)
{
    const struct options *o = s->options;
    uint8_t payload[CM_PAYLOAD];
    struct cm_message message = {
        .attribute = attribute,
        .transaction = qp->local_comm_id,
        .local_comm_id = qp->local_comm_id,
        .remote_comm_id = qp->remote_comm_id,
        .local_qp = qp->local_qp,
        .remote_qp = qp->remote_qp,
        .starting_psn = qp->psn,
        .service_id = o->service_id,
        .mtu = o->mtu,
        .local = o->local,
        .remote = o->remote,
    };
    struct roce_packet packet = {
        .dst = o->remote,
        .udp_src_port = roce_udp_src_port(qp->local_qp, QP_CONNECTION_MANAGER),
        .opcode = UD_SEND_ONLY,
        .p_key = DEFAULT_P_KEY,
        .dest_qp = QP_CONNECTION_MANAGER,
        .payload = payload,
        .payload_len = sizeof payload,
    };

    cm_build(&message, payload);
    roce_port_send(&s->port, &packet);
    log_event(o->log, now, "cm", "\"direction\":\"sent\",\"message\":\"%s\",\"qp\":%" PRIu32,
              cm_attribute_name(attribute), qp->local_qp);
}

static struct send_qp *find_comm_id(struct sender *s, uint32_t comm_id)
{
    for (unsigned i = 0; i < s->qp_count; i++)
        if (s->qps[i].local_comm_id == comm_id && comm_id != 0)
            return &s->qps[i];
    return NULL;
}

static void on_cm(struct sender *s, const struct roce_packet *packet, uint64_t now)
{
    FILE *log = s->options->log;
    struct cm_message message;

    if (!cm_parse(packet->payload, packet->payload_len, &message))
        return;
    struct send_qp *qp = find_comm_id(s, message.remote_comm_id);
    if (!qp)
        return;
    log_event(log, now, "cm", "\"direction\":\"received\",\"message\":\"%s\",\"qp\":%" PRIu32,
              cm_attribute_name(message.attribute), qp->local_qp);
    if (message.attribute == CM_REP && qp->state <= CONNECTED) {
        qp->remote_comm_id = message.local_comm_id;
        qp->remote_qp = message.local_qp;
        send_cm(s, qp, CM_RTU, now);
        if (qp->state == CONNECTING)
            log_event(log, now, "connected", "\"qp\":%" PRIu32 ",\"remote_qp\":%" PRIu32,
                      qp->local_qp, qp->remote_qp);
        qp->state = CONNECTED;
    } else if (message.attribute == CM_REJ && qp->state == CONNECTING) {
        fprintf(stderr, "fcn-roce: the receiver rejected the connection, reason %u\n",
                message.reject_reason);
        s->failed = true;
    } else if (message.attribute == CM_DREP && qp->state == DISCONNECTING) {
        qp->state = CLOSED;
    }
}

/* REQ until connected, DREQ until answered or given up. */
static void retry_cm(struct sender *s, uint64_t now)
{
    for (unsigned i = 0; i < s->qp_count; i++) {
        struct send_qp *qp = &s->qps[i];
        bool connecting = qp->state == CONNECTING;
        if ((!connecting && qp->state != DISCONNECTING) || now < qp->retry_at)
            continue;
        if (qp->tries++ == s->options->cm_retries) {
            if (connecting) {
                fprintf(stderr, "fcn-roce: no answer to %u CM requests\n",
                        s->options->cm_retries);
                s->failed = true;
            }
            qp->state = CLOSED;
            continue;
        }
        send_cm(s, qp, connecting ? CM_REQ : CM_DREQ, now);
        qp->retry_at = now + s->options->cm_timeout;
    }
}

static void on_cnp(struct sender *s, const struct roce_packet *packet, uint64_t now)
{
    FILE *log = s->options->log;
    char from[INET6_ADDRSTRLEN];

    for (unsigned i = 0; i < s->qp_count; i++) {
        struct send_qp *qp = &s->qps[i];
        if (qp->local_qp != packet->dest_qp || qp->state != CONNECTED ||
            packet->payload_len != CNP_PAYLOAD)
            continue;
        dcqcn_advance(&qp->rp, now);
        double before = qp->rp.current_rate;
        bool cut = dcqcn_on_cnp(&qp->rp, now);
        qp->cnps++;
        qp->cuts += cut;
        log_event(log, now, "cnp",
                  "\"qp\":%" PRIu32 ",\"src\":\"%s\",\"udp_src_port\":%u,\"cut\":%s,"
                  "\"rate_before_bps\":%.0f,\"rate_bps\":%.0f,\"alpha\":%.6f",
                  qp->local_qp, ip_address_format(&packet->src, from), packet->udp_src_port,
                  cut ? "true" : "false", before, qp->rp.current_rate, qp->rp.alpha);
        return;
    }
    s->unknown_qp++;
    log_event(log, now, "cnp_rejected", "\"qp\":%" PRIu32 ",\"src\":\"%s\"", packet->dest_qp,
              ip_address_format(&packet->src, from));
}

static void on_ack(struct sender *s, const struct roce_packet *packet)
{
    for (unsigned i = 0; i < s->qp_count; i++) {
        if (s->qps[i].local_qp == packet->dest_qp) {
            s->qps[i].acks++;
            return;
        }
    }
    s->unknown_qp++;
}

static void receive_batch(struct sender *s)
{
    uint8_t buffer[ROCE_MAX_PACKET];
    struct roce_packet packet;

    for (int i = 0; i < RECEIVE_BATCH && roce_port_receive(&s->port, buffer, &packet); i++) {
        uint64_t now = now_ns();
        if (packet.opcode == OPCODE_CNP)
            on_cnp(s, &packet, now);
        else if (packet.opcode == UD_SEND_ONLY && packet.dest_qp == QP_CONNECTION_MANAGER)
            on_cm(s, &packet, now);
        else if (packet.opcode == RC_ACKNOWLEDGE)
            on_ack(s, &packet);
        else
            s->unknown_qp++;
    }
}

/* The next packet of the endless series of RDMA WRITEs of message_packets packets. */
static void send_data(struct sender *s, struct send_qp *qp, uint64_t now)
{
    const struct options *o = s->options;
    bool first = qp->message_position == 0;
    bool last = qp->message_position + 1 == o->message_packets;
    size_t head = first ? RETH_HEADER : 0;
    struct roce_packet packet = {
        .dst = o->remote,
        .dscp = o->dscp,
        .ecn = o->ecn,
        .udp_src_port = roce_udp_src_port(qp->local_qp, qp->remote_qp),
        .opcode = first ? (last ? RC_WRITE_ONLY : RC_WRITE_FIRST)
                        : (last ? RC_WRITE_LAST : RC_WRITE_MIDDLE),
        .p_key = DEFAULT_P_KEY,
        .ack_req = last,
        .dest_qp = qp->remote_qp,
        .psn = qp->psn,
        .payload = s->payload,
        .payload_len = head + o->mtu,
    };

    if (first) {
        put64(s->payload, 0);
        put32(s->payload + 8, REMOTE_KEY);
        put32(s->payload + 12, o->message_packets * o->mtu);
    }
    put64(s->payload + head, now); /* the receiver measures the one-way delay with it */
    roce_port_send(&s->port, &packet);
    size_t ip_len = o->local.version == 4 ? IPV4_HEADER : IPV6_HEADER;
    qp->last_len = ip_len + UDP_HEADER + BTH_HEADER + packet.payload_len + ICRC_LENGTH;
    qp->psn = (qp->psn + 1) & PSN_MASK;
    qp->message_position = last ? 0 : qp->message_position + 1;
    qp->packets++;
    qp->octets += qp->last_len;
    dcqcn_on_sent(&qp->rp, qp->last_len, now);
}

/* A QP sends when its last packet has been serialised at the current rate. */
static uint64_t due_at(const struct send_qp *qp)
{
    return qp->last_sent + (uint64_t)((double)qp->last_len * 8 * NS_PER_S / qp->rp.current_rate);
}

/* Send the packets that are due; returns the time at which the next one is. */
static uint64_t send_due(struct sender *s, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < s->qp_count; i++) {
        struct send_qp *qp = &s->qps[i];
        if (qp->state != CONNECTED)
            continue;
        dcqcn_advance(&qp->rp, now);
        uint64_t due = due_at(qp);
        if (due <= now) {
            qp->last_sent = now - due > MAX_LAG_NS ? now : due;
            send_data(s, qp, now);
            due = due_at(qp);
        }
        if (due < next)
            next = due;
    }
    return next;
}

static void log_rates(struct sender *s, uint64_t now)
{
    for (unsigned i = 0; i < s->qp_count; i++) {
        struct send_qp *qp = &s->qps[i];
        dcqcn_advance(&qp->rp, now);
        log_event(s->options->log, now, "rate",
                  "\"qp\":%" PRIu32 ",\"rate_bps\":%.0f,\"target_bps\":%.0f,\"alpha\":%.6f,"
                  "\"packets\":%" PRIu64 ",\"octets\":%" PRIu64,
                  qp->local_qp, qp->rp.current_rate, qp->rp.target_rate, qp->rp.alpha,
                  qp->packets - qp->logged_packets, qp->octets - qp->logged_octets);
        qp->logged_packets = qp->packets;
        qp->logged_octets = qp->octets;
    }
    fflush(s->options->log);
}

static bool all_in(const struct sender *s, enum qp_state state)
{
    for (unsigned i = 0; i < s->qp_count; i++)
        if (s->qps[i].state != state)
            return false;
    return true;
}

static void set_up_qps(struct sender *s)
{
    const struct options *o = s->options;
    uint32_t seed = (uint32_t)now_ns();

    s->qp_count = o->pair_count ? o->pair_count : o->qp_count;
    for (unsigned i = 0; i < s->qp_count; i++) {
        struct send_qp *qp = &s->qps[i];
        dcqcn_init(&qp->rp, &o->dcqcn);
        qp->psn = (seed * 2654435761u + i * 40503u) & PSN_MASK;
        if (o->pair_count) {
            qp->state = CONNECTED;
            qp->local_qp = o->pairs[i].local;
            qp->remote_qp = o->pairs[i].remote;
        } else {
            qp->local_qp = o->first_qp + i;
            qp->local_comm_id = (seed & 0xffffff00u) + 1 + i;
        }
    }
}

/* Handle packets and CM timers until every QP is in state. */
static void run_until(struct sender *s, enum qp_state state)
{
    while (!s->failed && !stop_requested && !all_in(s, state)) {
        uint64_t now = now_ns();
        retry_cm(s, now);
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
    for (unsigned i = 0; i < s->qp_count; i++)
        s->qps[i].last_sent = now;
    log_rates(s, now);
    uint64_t end = now + o->duration;
    bool sending = true;
    while (!stop_requested && (now = now_ns()) < end + o->hold) {
        uint64_t next = UINT64_MAX;
        if (finish_requested && now < end)
            end = now;
        if (now < end) {
            next = send_due(s, now);
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
    for (unsigned i = 0; i < s->qp_count; i++) {
        s->qps[i].state = s->options->pair_count ? CLOSED : DISCONNECTING;
        s->qps[i].tries = 0;
        s->qps[i].retry_at = now;
    }
    stop_requested = 0;
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
    if (!roce_port_open(&s->port, &options->local))
        return 1;
    set_up_qps(s);
    log_start(s);
    run_until(s, CONNECTED);
    if (all_in(s, CONNECTED)) {
        transmit(s);
        disconnect(s);
    }
    uint64_t now = now_ns();
    for (unsigned i = 0; i < s->qp_count; i++) {
        const struct send_qp *qp = &s->qps[i];
        log_event(options->log, now, "qp_summary",
                  "\"qp\":%" PRIu32 ",\"remote_qp\":%" PRIu32 ",\"packets\":%" PRIu64
                  ",\"octets\":%" PRIu64 ",\"acks\":%" PRIu64 ",\"cnps\":%" PRIu64
                  ",\"cuts\":%" PRIu64,
                  qp->local_qp, qp->remote_qp, qp->packets, qp->octets, qp->acks, qp->cnps,
                  qp->cuts);
    }
    log_port_summary(options->log, now, &s->port, s->unknown_qp);
    roce_port_close(&s->port);
    return s->failed;
}
