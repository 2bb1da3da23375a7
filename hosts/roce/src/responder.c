#include "responder.h"

#include "bytes.h"

#include <string.h>

void responder_init(struct responder *r, const struct ip_address *local,
                    const struct ip_address *peer, const struct cm_message *req, uint32_t local_qp,
                    uint32_t comm_id)
{
    *r = (struct responder){
        .local = *local,
        .peer = *peer,
        .local_qp = local_qp,
        .remote_qp = req->local_qp,
        .local_comm_id = comm_id,
        .remote_comm_id = req->local_comm_id,
        .open = true,
        .synchronised = true,
        .expected_psn = req->starting_psn,
        .kept_psn = req->starting_psn,
    };
}

void responder_join(struct responder *r, const struct ip_address *local, uint32_t local_qp,
                    uint32_t remote_qp)
{
    *r = (struct responder){
        .local = *local, .local_qp = local_qp, .remote_qp = remote_qp, .open = true};
}

void responder_free(struct responder *r)
{
    marks_free(&r->kept);
}

bool responder_takes(struct responder *r, const struct roce_packet *packet)
{
    if (!r->open)
        return false;
    if (!r->peer.version)
        r->peer = packet->src;
    return ip_address_equal(&r->peer, &packet->src);
}

void responder_answer(struct responder *r, const struct responder_io *io,
                      const struct roce_packet *packet, const struct cm_message *message,
                      uint16_t reason, uint64_t now)
{
    uint8_t payload[CM_PAYLOAD];
    struct cm_message answer = {
        .attribute = CM_REJ,
        .transaction = message->transaction,
        .remote_comm_id = message->local_comm_id,
        .reject_reason = reason,
    };
    struct roce_packet out = {
        .src = packet->dst,
        .dst = packet->src,
        .opcode = UD_SEND_ONLY,
        .p_key = DEFAULT_P_KEY,
        .dest_qp = QP_CONNECTION_MANAGER,
        .payload = payload,
        .payload_len = sizeof payload,
    };

    if (message->attribute == CM_REQ && r) {
        answer.attribute = CM_REP;
        answer.local_comm_id = r->local_comm_id;
        answer.local_qp = r->local_qp;
        answer.starting_psn = message->starting_psn;
    } else if (message->attribute == CM_DREQ) {
        answer.attribute = CM_DREP;
        answer.local_comm_id = message->remote_comm_id;
        if (r)
            r->open = false;
    } else if (message->attribute != CM_REQ) {
        return;
    }
    out.udp_src_port = roce_udp_src_port(answer.local_qp, QP_CONNECTION_MANAGER);
    cm_build(&answer, payload);
    io->send(io->context, &out, now);
}

static void send_cnp(struct responder *r, const struct responder_params *params,
                     const struct responder_io *io, const struct roce_packet *marked, uint64_t now)
{
    static const uint8_t reserved[CNP_PAYLOAD];
    struct roce_packet packet = {
        .src = r->local,
        .dst = r->peer,
        .dscp = CNP_DSCP,
        .opcode = OPCODE_CNP,
        .p_key = marked->p_key,
        .becn = true,
        .dest_qp = r->remote_qp,
        .payload = reserved,
        .payload_len = sizeof reserved,
    };

    if (r->cnp_sent && now - r->last_cnp < params->cnp_interval)
        return;
    r->cnp_sent = true;
    r->last_cnp = now;
    r->cnps++;
    io->notice(io->context, r, NOTICE_CNP_SENT, r->marked, now);
    io->send(io->context, &packet, now);
}

static void acknowledge(struct responder *r, const struct responder_params *params,
                        const struct responder_io *io, uint8_t syndrome, uint32_t psn,
                        const struct roce_packet *kept, uint64_t now)
{
    uint8_t aeth[AETH_HEADER + SACK_HEADER] = {0};
    struct roce_packet packet = {
        .src = r->local,
        .dst = r->peer,
        .dscp = params->dscp,
        .udp_src_port = roce_udp_src_port(r->local_qp, r->remote_qp),
        .opcode = RC_ACKNOWLEDGE,
        .p_key = DEFAULT_P_KEY,
        .dest_qp = r->remote_qp,
        .psn = psn & PSN_MASK,
        .payload = aeth,
        .payload_len = kept ? sizeof aeth : AETH_HEADER,
    };

    if (kept)
        put24(aeth + AETH_HEADER + 1, kept->psn);
    aeth[0] = syndrome;
    put24(aeth + 1, r->message_number);
    io->send(io->context, &packet, now);
}

enum { KEPT = 1, KEPT_LAST };

static void count(struct responder *r, const struct roce_packet *packet, size_t len)
{
    bool first = packet->opcode == RC_WRITE_FIRST || packet->opcode == RC_WRITE_ONLY;

    r->packets++;
    r->octets += len;
    r->payload += packet->payload_len;
    if (first && packet->payload_len >= RETH_HEADER)
        r->payload -= RETH_HEADER;
}

static void next_packet(struct responder *r, bool last)
{
    uint32_t next = (r->expected_psn + 1) & PSN_MASK;

    if (r->kept_psn == r->expected_psn)
        r->kept_psn = next;
    r->expected_psn = next;
    if (last) {
        r->messages++;
        r->message_number = (r->message_number + 1) & PSN_MASK;
    }
}

/* A packet ahead of a gap: kept, as far as there is room, and said which (IRN, section 3.1). */
static void keep(struct responder *r, const struct responder_params *params,
                 const struct responder_io *io, const struct roce_packet *packet, size_t len,
                 uint32_t ahead, bool last, uint64_t now)
{
    uint32_t edge = (r->kept_psn - r->expected_psn) & PSN_MASK;

    if (ahead < edge && marks_get(&r->kept, packet->psn)) {
        r->repeated++;
    } else if (ahead > params->keeps ||
               !marks_set(&r->kept, r->expected_psn, packet->psn, last ? KEPT_LAST : KEPT)) {
        r->beyond_gap++;
        return;
    } else {
        count(r, packet, len);
    }
    r->naks++;
    if (ahead > edge) {
        io->notice(io->context, r, NOTICE_GAP, ahead - edge, now);
        io->notice(io->context, r, NOTICE_NAK_SENT, r->expected_psn, now);
    }
    if (ahead >= edge)
        r->kept_psn = (packet->psn + 1) & PSN_MASK;
    acknowledge(r, params, io, AETH_NAK_SEQUENCE, r->expected_psn, packet, now);
}

void responder_on_data(struct responder *r, const struct responder_params *params,
                       const struct responder_io *io, const struct roce_packet *packet, size_t len,
                       uint64_t now)
{
    if (!r->synchronised) {
        r->synchronised = true;
        r->expected_psn = r->kept_psn = packet->psn;
    }
    uint32_t ahead = (packet->psn - r->expected_psn) & PSN_MASK;
    bool last = packet->opcode == RC_WRITE_LAST || packet->opcode == RC_WRITE_ONLY;

    if (packet->ecn == ECN_CE) {
        r->marked++;
        send_cnp(r, params, io, packet, now);
    }
    if (ahead > PSN_MASK / 2) {
        r->repeated++;
        if (packet->ack_req)
            acknowledge(r, params, io, AETH_ACK, r->expected_psn - 1, NULL, now);
        return;
    }
    if (ahead && params->keeps) {
        keep(r, params, io, packet, len, ahead, last, now);
        return;
    }
    if (ahead) {
        r->beyond_gap++;
        if (!r->nak_sent) {
            r->nak_sent = true;
            r->naks++;
            io->notice(io->context, r, NOTICE_GAP, ahead, now);
            io->notice(io->context, r, NOTICE_NAK_SENT, r->expected_psn, now);
            acknowledge(r, params, io, AETH_NAK_SEQUENCE, r->expected_psn, NULL, now);
        }
        return;
    }
    r->nak_sent = false;
    count(r, packet, len);
    next_packet(r, last);
    bool fills = false;
    for (uint8_t mark; (mark = marks_take(&r->kept, r->expected_psn)); fills = true)
        next_packet(r, mark == KEPT_LAST);
    if (packet->ack_req || fills)
        acknowledge(r, params, io, AETH_ACK, r->expected_psn - 1, NULL, now);
}
