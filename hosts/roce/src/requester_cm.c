#include "requester_cm.h"

void requester_tell(const struct requester *r, const struct requester_io *io,
                    enum roce_notice what, uint64_t value, uint64_t now)
{
    io->notice(io->context, r, what, value, &r->params.remote, now);
}

void requester_connect(struct requester *r, uint64_t at)
{
    r->state = CONNECTING;
    r->cm_at = at;
    r->cm_tries = 0;
}

void requester_disconnect(struct requester *r, uint64_t at)
{
    r->state = DISCONNECTING;
    r->timeout_at = ROCE_NEVER;
    r->cm_at = at;
    r->cm_tries = 0;
}

static void send_cm(const struct requester *r, const struct requester_io *io,
                    enum cm_attribute attribute, uint64_t now)
{
    const struct requester_params *p = &r->params;
    uint8_t payload[CM_PAYLOAD];
    struct cm_message message = {
        .attribute = attribute,
        .transaction = r->local_comm_id,
        .local_comm_id = r->local_comm_id,
        .remote_comm_id = r->remote_comm_id,
        .local_qp = r->local_qp,
        .remote_qp = r->remote_qp,
        .starting_psn = r->first_psn,
        .service_id = p->service_id,
        .mtu = p->mtu,
        .local = p->local,
        .remote = p->remote,
    };
    struct roce_packet packet = {
        .src = p->local,
        .dst = p->remote,
        .udp_src_port = roce_udp_src_port(r->local_qp, QP_CONNECTION_MANAGER),
        .opcode = UD_SEND_ONLY,
        .p_key = DEFAULT_P_KEY,
        .dest_qp = QP_CONNECTION_MANAGER,
        .payload = payload,
        .payload_len = sizeof payload,
    };

    cm_build(&message, payload);
    io->send(io->context, &packet, now);
}

void requester_end(struct requester *r, const struct requester_io *io,
                   enum requester_state state, uint64_t now)
{
    r->state = state;
    r->cm_at = r->timeout_at = ROCE_NEVER;
    requester_tell(r, io, state == FAILED ? NOTICE_FAILED : NOTICE_CLOSED, r->acknowledged, now);
}

void requester_on_cm(struct requester *r, const struct requester_io *io,
                     const struct cm_message *message, uint64_t now)
{
    if (message->attribute == CM_REP && (r->state == CONNECTING || r->state == CONNECTED)) {
        r->remote_comm_id = message->local_comm_id;
        r->remote_qp = message->local_qp;
        send_cm(r, io, CM_RTU, now);
        if (r->state == CONNECTING)
            requester_tell(r, io, NOTICE_CONNECTED, r->remote_qp, now);
        r->state = CONNECTED;
        r->cm_at = ROCE_NEVER;
    } else if (message->attribute == CM_REJ && r->state == CONNECTING) {
        requester_end(r, io, FAILED, now);
    } else if (message->attribute == CM_DREP && r->state == DISCONNECTING) {
        requester_end(r, io, CLOSED, now);
    }
}

void requester_retry_cm(struct requester *r, const struct requester_io *io, uint64_t now)
{
    bool connecting = r->state == CONNECTING;

    if (r->cm_tries++ == r->params.cm_retries) {
        requester_end(r, io, connecting ? FAILED : CLOSED, now);
        return;
    }
    send_cm(r, io, connecting ? CM_REQ : CM_DREQ, now);
    r->cm_at = now + r->params.cm_timeout;
}
