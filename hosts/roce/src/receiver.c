#include "bytes.h"
#include "log.h"
#include "requester.h"
#include "responder.h"
#include "roles.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#define NS_PER_US 1000.0

struct receive_qp {
    struct responder responder;
    /* All packets of data, also those the responder does not take. lost: PSNs that were skipped, in
     * the order of arrival. */
    uint64_t packets, octets, lost;
    bool has_seen;
    uint32_t next_psn; /* after the last one seen */
    uint64_t delay_sum;
    /* since the last rate line */
    uint64_t logged_packets, logged_octets, logged_taken, logged_ce, logged_lost;
    uint64_t delay_min, delay_max;
};

struct receiver {
    const struct options *options;
    struct roce_port port;
    struct receive_qp qps[MAX_QPS];
    unsigned qp_count;
    uint64_t unknown_qp;
};

/* What a responder does to the world. */

static void send_packet(void *context, struct roce_packet *packet, uint64_t now)
{
    struct receiver *r = context;
    struct cm_message message;

    roce_port_send(&r->port, packet);
    if (packet->dest_qp == QP_CONNECTION_MANAGER &&
        cm_parse(packet->payload, packet->payload_len, &message))
        log_event(r->options->log, now, "cm",
                  "\"direction\":\"sent\",\"message\":\"%s\",\"qp\":%" PRIu32,
                  cm_attribute_name(message.attribute), message.local_qp);
}

static void on_notice(void *context, const struct responder *s, enum roce_notice what,
                      uint64_t value, uint64_t now)
{
    const struct receiver *r = context;
    char to[INET6_ADDRSTRLEN];

    if (what == NOTICE_CNP_SENT)
        log_event(r->options->log, now, "cnp_sent", "\"qp\":%" PRIu32 ",\"to\":\"%s\"",
                  s->remote_qp, ip_address_format(&s->peer, to));
    else if (what == NOTICE_NAK_SENT)
        log_event(r->options->log, now, "nak_sent", "\"qp\":%" PRIu32 ",\"psn\":%" PRIu64,
                  s->remote_qp, value);
}

static struct responder_io io_of(struct receiver *r)
{
    return (struct responder_io){r, send_packet, on_notice};
}

/* Communication IDs are unique per host only: the peer's address belongs to the key. */
static struct receive_qp *find_connection(struct receiver *r, const struct ip_address *peer,
                                          uint32_t remote_comm_id)
{
    for (unsigned i = 0; i < r->qp_count; i++) {
        const struct responder *s = &r->qps[i].responder;
        if (s->local_comm_id && s->remote_comm_id == remote_comm_id &&
            ip_address_equal(&s->peer, peer))
            return &r->qps[i];
    }
    return NULL;
}

static struct receive_qp *accept_connection(struct receiver *r, const struct ip_address *peer,
                                            const struct cm_message *req)
{
    if (r->qp_count == MAX_QPS)
        return NULL;
    unsigned index = r->qp_count++;
    struct receive_qp *qp = &r->qps[index];
    uint32_t comm_id = ((uint32_t)now_ns() & 0xffffff00u) + 1 + index;
    *qp = (struct receive_qp){.delay_min = UINT64_MAX};
    responder_init(&qp->responder, &r->options->local, peer, req, r->options->first_qp + index,
                   comm_id);
    return qp;
}

static void on_cm(struct receiver *r, const struct roce_packet *packet, uint64_t now)
{
    struct cm_message message;

    if (!cm_parse(packet->payload, packet->payload_len, &message))
        return;
    struct receive_qp *qp = find_connection(r, &packet->src, message.local_comm_id);
    log_event(r->options->log, now, "cm",
              "\"direction\":\"received\",\"message\":\"%s\",\"qp\":%" PRIu32,
              cm_attribute_name(message.attribute), qp ? qp->responder.local_qp : 0);
    uint16_t reason = CM_REJECT_NO_RESOURCES;
    if (message.attribute == CM_REQ && message.service_id != r->options->service_id) {
        qp = NULL;
        reason = CM_REJECT_INVALID_SERVICE_ID;
    } else if (message.attribute == CM_REQ && !qp) {
        qp = accept_connection(r, &packet->src, &message);
    }
    struct responder_io io = io_of(r);
    responder_answer(qp ? &qp->responder : NULL, &io, packet, &message, reason, now);
}

/* Behind a gap packets come again, so the next one may well be before the last. */
static void track_psn(struct receiver *r, struct receive_qp *qp, uint32_t psn, uint64_t now)
{
    const struct responder *s = &qp->responder;
    uint32_t next = qp->has_seen ? qp->next_psn : s->synchronised ? s->expected_psn : psn;
    uint32_t ahead = (psn - next) & PSN_MASK;

    if (ahead && ahead <= PSN_MASK / 2) {
        qp->lost += ahead;
        log_event(r->options->log, now, "loss",
                  "\"qp\":%" PRIu32 ",\"psn\":%" PRIu32 ",\"packets\":%" PRIu32, s->local_qp, next,
                  ahead);
    }
    qp->has_seen = true;
    qp->next_psn = (psn + 1) & PSN_MASK;
}

/* The payload begins with the time at which it was sent. */
static void track_delay(struct receive_qp *qp, const struct roce_packet *packet, uint64_t now)
{
    bool has_reth = packet->opcode == RC_WRITE_FIRST || packet->opcode == RC_WRITE_ONLY;
    size_t at = has_reth ? RETH_HEADER : 0;

    if (packet->payload_len < at + REQUESTER_TIME)
        return;
    uint64_t sent = get64(packet->payload + at);
    uint64_t delay = now > sent ? now - sent : 0;
    qp->delay_sum += delay;
    if (delay < qp->delay_min)
        qp->delay_min = delay;
    if (delay > qp->delay_max)
        qp->delay_max = delay;
}

static void on_data(struct receiver *r, const struct roce_packet *packet, size_t len, uint64_t now)
{
    struct receive_qp *qp = NULL;

    for (unsigned i = 0; i < r->qp_count && !qp; i++)
        if (r->qps[i].responder.local_qp == packet->dest_qp)
            qp = &r->qps[i];
    if (!qp || !responder_takes(&qp->responder, packet)) {
        r->unknown_qp++;
        return;
    }
    qp->packets++;
    qp->octets += len;
    track_psn(r, qp, packet->psn, now);
    track_delay(qp, packet, now);
    if (packet->ecn == ECN_CE)
        log_event(r->options->log, now, "ce", "\"qp\":%" PRIu32 ",\"psn\":%" PRIu32,
                  qp->responder.local_qp, packet->psn);
    struct responder_params params = {
        .dscp = r->options->dscp, .cnp_interval = r->options->cnp_interval};
    struct responder_io io = io_of(r);
    responder_on_data(&qp->responder, &params, &io, packet, len, now);
}

static bool is_write(uint8_t opcode)
{
    return opcode == RC_WRITE_FIRST || opcode == RC_WRITE_MIDDLE || opcode == RC_WRITE_LAST ||
           opcode == RC_WRITE_ONLY;
}

static void receive_batch(struct receiver *r)
{
    uint8_t buffer[ROCE_MAX_PACKET];
    struct roce_packet packet;

    for (int i = 0; i < RECEIVE_BATCH && roce_port_receive(&r->port, buffer, &packet); i++) {
        uint64_t now = now_ns();
        size_t ip_len = packet.src.version == 4 ? IPV4_HEADER : IPV6_HEADER;
        if (packet.opcode == UD_SEND_ONLY && packet.dest_qp == QP_CONNECTION_MANAGER)
            on_cm(r, &packet, now);
        else if (is_write(packet.opcode))
            on_data(r, &packet,
                    ip_len + UDP_HEADER + BTH_HEADER + packet.payload_len + ICRC_LENGTH, now);
        else
            r->unknown_qp++;
    }
}

static void log_rates(struct receiver *r, uint64_t now)
{
    for (unsigned i = 0; i < r->qp_count; i++) {
        struct receive_qp *qp = &r->qps[i];
        uint64_t packets = qp->packets - qp->logged_packets, ce = qp->responder.marked;
        double divisor = packets ? (double)packets : 1;
        log_event(r->options->log, now, "rate",
                  "\"qp\":%" PRIu32 ",\"packets\":%" PRIu64 ",\"octets\":%" PRIu64
                  ",\"taken\":%" PRIu64 ",\"ce\":%" PRIu64 ",\"lost\":%" PRId64
                  ",\"delay_min_us\":%.1f"
                  ",\"delay_mean_us\":%.1f,\"delay_max_us\":%.1f",
                  qp->responder.local_qp, packets, qp->octets - qp->logged_octets,
                  qp->responder.packets - qp->logged_taken, ce - qp->logged_ce,
                  (int64_t)(qp->lost - qp->logged_lost),
                  packets ? (double)qp->delay_min / NS_PER_US : 0,
                  (double)qp->delay_sum / divisor / NS_PER_US,
                  packets ? (double)qp->delay_max / NS_PER_US : 0);
        qp->logged_packets = qp->packets;
        qp->logged_octets = qp->octets;
        qp->logged_taken = qp->responder.packets;
        qp->logged_ce = ce;
        qp->logged_lost = qp->lost;
        qp->delay_min = UINT64_MAX;
        qp->delay_max = qp->delay_sum = 0;
    }
    fflush(r->options->log);
}

static void set_up_qps(struct receiver *r)
{
    r->qp_count = r->options->pair_count;
    for (unsigned i = 0; i < r->qp_count; i++) {
        const struct qp_pair *pair = &r->options->pairs[i];
        r->qps[i] = (struct receive_qp){.delay_min = UINT64_MAX};
        responder_join(&r->qps[i].responder, &r->options->local, pair->local, pair->remote);
    }
}

int run_receiver(const struct options *options)
{
    static struct receiver receiver;
    struct receiver *r = &receiver;
    char local[INET6_ADDRSTRLEN];

    r->options = options;
    if (!roce_port_open(&r->port, &options->local))
        return 1;
    set_up_qps(r);
    uint64_t now = now_ns();
    log_event(options->log, now, "start",
              "\"role\":\"receiver\",\"local\":\"%s\",\"cnp_interval_ns\":%" PRIu64,
              ip_address_format(&options->local, local), options->cnp_interval);
    fflush(options->log);
    uint64_t log_at = now + options->log_interval;
    while (!stop_requested) {
        roce_port_wait(&r->port, log_at);
        receive_batch(r);
        now = now_ns();
        if (now >= log_at) {
            log_rates(r, now);
            log_at += options->log_interval;
        }
    }
    receive_batch(r);
    now = now_ns();
    log_rates(r, now);
    for (unsigned i = 0; i < r->qp_count; i++) {
        const struct receive_qp *qp = &r->qps[i];
        const struct responder *s = &qp->responder;
        log_event(options->log, now, "qp_summary",
                  "\"qp\":%" PRIu32 ",\"remote_qp\":%" PRIu32 ",\"packets\":%" PRIu64
                  ",\"octets\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"ce\":%" PRIu64
                  ",\"lost\":%" PRIu64 ",\"late\":%" PRIu64 ",\"naks\":%" PRIu64
                  ",\"cnps\":%" PRIu64,
                  s->local_qp, s->remote_qp, qp->packets, qp->octets, s->packets, s->marked,
                  qp->lost, s->repeated, s->naks, s->cnps);
    }
    log_port_summary(options->log, now, &r->port, r->unknown_qp);
    roce_port_close(&r->port);
    return 0;
}
