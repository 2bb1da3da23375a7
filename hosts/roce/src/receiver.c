#include "bytes.h"
#include "cm.h"
#include "log.h"
#include "roles.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#define NS_PER_US 1000.0

struct receive_qp {
    struct ip_address peer; /* version 0 until the first packet of a pre-arranged QP */
    uint32_t local_qp, remote_qp;
    uint32_t local_comm_id, remote_comm_id; /* 0 without CM */
    bool open;
    bool synchronised; /* expected_psn is known */
    uint32_t expected_psn;
    uint32_t message_number;
    bool sent_cnp;
    uint64_t last_cnp;
    uint64_t packets, octets, ce, lost, late, cnps;
    uint64_t delay_sum;
    /* since the last rate line */
    uint64_t logged_packets, logged_octets, logged_ce, logged_lost;
    uint64_t delay_min, delay_max;
};

struct receiver {
    const struct options *options;
    struct roce_port port;
    struct receive_qp qps[MAX_QPS];
    unsigned qp_count;
    uint64_t unknown_qp;
};

static void send_cm(struct receiver *r, const struct ip_address *to, struct cm_message *message,
                    uint64_t now)
{
    uint8_t payload[CM_PAYLOAD];
    struct roce_packet packet = {
        .dst = *to,
        .udp_src_port = roce_udp_src_port(message->local_qp, QP_CONNECTION_MANAGER),
        .opcode = UD_SEND_ONLY,
        .p_key = DEFAULT_P_KEY,
        .dest_qp = QP_CONNECTION_MANAGER,
        .payload = payload,
        .payload_len = sizeof payload,
    };

    cm_build(message, payload);
    roce_port_send(&r->port, &packet);
    log_event(r->options->log, now, "cm",
              "\"direction\":\"sent\",\"message\":\"%s\",\"qp\":%" PRIu32,
              cm_attribute_name(message->attribute), message->local_qp);
}

/* Communication IDs are unique per host only: the peer's address belongs to the key. */
static struct receive_qp *find_connection(struct receiver *r, const struct ip_address *peer,
                                          uint32_t remote_comm_id)
{
    for (unsigned i = 0; i < r->qp_count; i++) {
        struct receive_qp *qp = &r->qps[i];
        if (qp->local_comm_id && qp->remote_comm_id == remote_comm_id &&
            ip_address_equal(&qp->peer, peer))
            return qp;
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
    *qp = (struct receive_qp){
        .peer = *peer,
        .local_qp = r->options->first_qp + index,
        .remote_qp = req->local_qp,
        .local_comm_id = ((uint32_t)now_ns() & 0xffffff00u) + 1 + index,
        .remote_comm_id = req->local_comm_id,
        .open = true,
        .synchronised = true,
        .expected_psn = req->starting_psn,
        .delay_min = UINT64_MAX,
    };
    return qp;
}

static void on_req(struct receiver *r, const struct ip_address *peer,
                   const struct cm_message *req, uint64_t now)
{
    struct cm_message answer = {
        .attribute = CM_REJ,
        .transaction = req->transaction,
        .remote_comm_id = req->local_comm_id,
    };

    if (req->service_id != r->options->service_id) {
        answer.reject_reason = CM_REJECT_INVALID_SERVICE_ID;
        send_cm(r, peer, &answer, now);
        return;
    }
    struct receive_qp *qp = find_connection(r, peer, req->local_comm_id);
    if (!qp)
        qp = accept_connection(r, peer, req);
    if (qp) {
        answer.attribute = CM_REP;
        answer.local_comm_id = qp->local_comm_id;
        answer.local_qp = qp->local_qp;
        answer.starting_psn = req->starting_psn;
    } else {
        answer.reject_reason = CM_REJECT_NO_RESOURCES;
    }
    send_cm(r, peer, &answer, now);
}

static void on_cm(struct receiver *r, const struct roce_packet *packet, uint64_t now)
{
    struct cm_message message;

    if (!cm_parse(packet->payload, packet->payload_len, &message))
        return;
    struct receive_qp *qp = find_connection(r, &packet->src, message.local_comm_id);
    log_event(r->options->log, now, "cm",
              "\"direction\":\"received\",\"message\":\"%s\",\"qp\":%" PRIu32,
              cm_attribute_name(message.attribute), qp ? qp->local_qp : 0);
    if (message.attribute == CM_REQ) {
        on_req(r, &packet->src, &message, now);
    } else if (message.attribute == CM_DREQ) {
        struct cm_message answer = {
            .attribute = CM_DREP,
            .transaction = message.transaction,
            .local_comm_id = message.remote_comm_id,
            .remote_comm_id = message.local_comm_id,
        };
        if (qp)
            qp->open = false;
        send_cm(r, &packet->src, &answer, now);
    }
}

static void send_cnp(struct receiver *r, struct receive_qp *qp, const struct roce_packet *marked,
                     uint64_t now)
{
    static const uint8_t reserved[CNP_PAYLOAD];
    char to[INET6_ADDRSTRLEN];
    struct roce_packet packet = {
        .dst = marked->src,
        .dscp = CNP_DSCP,
        .udp_src_port = 0,
        .opcode = OPCODE_CNP,
        .p_key = marked->p_key,
        .becn = true,
        .dest_qp = qp->remote_qp,
        .payload = reserved,
        .payload_len = sizeof reserved,
    };

    if (qp->sent_cnp && now - qp->last_cnp < r->options->cnp_interval)
        return;
    qp->sent_cnp = true;
    qp->last_cnp = now;
    qp->cnps++;
    roce_port_send(&r->port, &packet);
    log_event(r->options->log, now, "cnp_sent", "\"qp\":%" PRIu32 ",\"to\":\"%s\"",
              qp->remote_qp, ip_address_format(&marked->src, to));
}

static void send_ack(struct receiver *r, struct receive_qp *qp, const struct roce_packet *data)
{
    uint8_t aeth[AETH_HEADER];
    struct roce_packet packet = {
        .dst = data->src,
        .dscp = r->options->dscp,
        .udp_src_port = roce_udp_src_port(qp->local_qp, qp->remote_qp),
        .opcode = RC_ACKNOWLEDGE,
        .p_key = data->p_key,
        .dest_qp = qp->remote_qp,
        .psn = data->psn,
        .payload = aeth,
        .payload_len = sizeof aeth,
    };

    qp->message_number = (qp->message_number + 1) & PSN_MASK;
    aeth[0] = AETH_ACK;
    put24(aeth + 1, qp->message_number);
    roce_port_send(&r->port, &packet);
}

/* Gaps count as lost until a late packet fills them: the sender never retransmits. */
static void track_psn(struct receiver *r, struct receive_qp *qp, uint32_t psn, uint64_t now)
{
    uint32_t ahead = qp->synchronised ? (psn - qp->expected_psn) & PSN_MASK : 0;

    qp->synchronised = true;
    if (ahead > PSN_MASK / 2) {
        qp->late++;
        if (qp->lost)
            qp->lost--;
        return;
    }
    if (ahead) {
        qp->lost += ahead;
        log_event(r->options->log, now, "loss",
                  "\"qp\":%" PRIu32 ",\"psn\":%" PRIu32 ",\"packets\":%" PRIu32, qp->local_qp,
                  qp->expected_psn, ahead);
    }
    qp->expected_psn = (psn + 1) & PSN_MASK;
}

static void track_delay(struct receive_qp *qp, const struct roce_packet *packet, uint64_t now)
{
    bool has_reth = packet->opcode == RC_WRITE_FIRST || packet->opcode == RC_WRITE_ONLY;
    size_t at = has_reth ? RETH_HEADER : 0;

    if (packet->payload_len < at + 8)
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
        if (r->qps[i].local_qp == packet->dest_qp && r->qps[i].open)
            qp = &r->qps[i];
    if (qp && !qp->peer.version)
        qp->peer = packet->src;
    if (!qp || !ip_address_equal(&qp->peer, &packet->src)) {
        r->unknown_qp++;
        return;
    }
    qp->packets++;
    qp->octets += len;
    track_psn(r, qp, packet->psn, now);
    track_delay(qp, packet, now);
    if (packet->ecn == ECN_CE) {
        qp->ce++;
        log_event(r->options->log, now, "ce", "\"qp\":%" PRIu32 ",\"psn\":%" PRIu32,
                  qp->local_qp, packet->psn);
        send_cnp(r, qp, packet, now);
    }
    if (packet->ack_req)
        send_ack(r, qp, packet);
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
        uint64_t packets = qp->packets - qp->logged_packets;
        double divisor = packets ? (double)packets : 1;
        log_event(r->options->log, now, "rate",
                  "\"qp\":%" PRIu32 ",\"packets\":%" PRIu64 ",\"octets\":%" PRIu64
                  ",\"ce\":%" PRIu64 ",\"lost\":%" PRId64 ",\"delay_min_us\":%.1f"
                  ",\"delay_mean_us\":%.1f,\"delay_max_us\":%.1f",
                  qp->local_qp, packets, qp->octets - qp->logged_octets, qp->ce - qp->logged_ce,
                  (int64_t)(qp->lost - qp->logged_lost),
                  packets ? (double)qp->delay_min / NS_PER_US : 0,
                  (double)qp->delay_sum / divisor / NS_PER_US,
                  packets ? (double)qp->delay_max / NS_PER_US : 0);
        qp->logged_packets = qp->packets;
        qp->logged_octets = qp->octets;
        qp->logged_ce = qp->ce;
        qp->logged_lost = qp->lost;
        qp->delay_min = UINT64_MAX;
        qp->delay_max = qp->delay_sum = 0;
    }
    fflush(r->options->log);
}

static void set_up_qps(struct receiver *r)
{
    r->qp_count = r->options->pair_count;
    for (unsigned i = 0; i < r->qp_count; i++)
        r->qps[i] = (struct receive_qp){
            .local_qp = r->options->pairs[i].local,
            .remote_qp = r->options->pairs[i].remote,
            .open = true,
            .delay_min = UINT64_MAX,
        };
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
        log_event(options->log, now, "qp_summary",
                  "\"qp\":%" PRIu32 ",\"remote_qp\":%" PRIu32 ",\"packets\":%" PRIu64
                  ",\"octets\":%" PRIu64 ",\"ce\":%" PRIu64 ",\"lost\":%" PRIu64
                  ",\"late\":%" PRIu64 ",\"cnps\":%" PRIu64,
                  qp->local_qp, qp->remote_qp, qp->packets, qp->octets, qp->ce, qp->lost,
                  qp->late, qp->cnps);
    }
    log_port_summary(options->log, now, &r->port, r->unknown_qp);
    roce_port_close(&r->port);
    return 0;
}
