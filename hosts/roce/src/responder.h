/*
 * The receiving side of reliable connections: ACK and NAK of go-back-N or of selective repeat, and the
 * DCQCN notification point. Like the requester it knows neither sockets nor a clock.
 */
#ifndef FCN_ROCE_RESPONDER_H
#define FCN_ROCE_RESPONDER_H

#include "cm.h"
#include "marks.h"
#include "notice.h"
#include "packet.h"

struct responder {
    struct ip_address local, peer; /* the peer's version is 0 until its first packet */
    uint32_t local_qp, remote_qp;
    uint32_t local_comm_id, remote_comm_id;
    bool open;
    bool synchronised; /* expected_psn is known */
    uint32_t expected_psn;
    uint32_t message_number;
    bool nak_sent; /* for the gap before expected_psn: go-back-N needs one */
    /* Of selective repeat: packets that were kept, from expected_psn on, before kept_psn. */
    struct marks kept;
    uint32_t kept_psn;
    bool cnp_sent;
    uint64_t last_cnp;
    /* packets, octets: taken; octets of IP packets. beyond_gap, repeated: not taken. */
    uint64_t packets, octets, payload, messages, marked, cnps, naks, beyond_gap, repeated;
};

struct responder_params {
    uint8_t dscp;
    uint64_t cnp_interval; /* least time between two CNPs of a connection */
    uint32_t keeps;        /* packets ahead of a gap that are kept, below 2^23; 0: go-back-N */
};

struct responder_io {
    void *context;
    void (*send)(void *context, struct roce_packet *packet, uint64_t now);
    void (*notice)(void *context, const struct responder *r, enum roce_notice what, uint64_t value,
                   uint64_t now);
};

/* A connection that a REQ asks for. */
void responder_init(struct responder *r, const struct ip_address *local,
                    const struct ip_address *peer, const struct cm_message *req, uint32_t local_qp,
                    uint32_t comm_id);

/* A connection whose queue pairs are known on both sides: the peer's address and PSN are those of its
 * first packet. */
void responder_join(struct responder *r, const struct ip_address *local, uint32_t local_qp,
                    uint32_t remote_qp);
void responder_free(struct responder *r);

/* Answer a CM message: `r` is its connection, NULL for a REQ that is rejected with `reason`. */
void responder_answer(struct responder *r, const struct responder_io *io,
                      const struct roce_packet *packet, const struct cm_message *message,
                      uint16_t reason, uint64_t now);

/* Whether a packet to its queue pair is the connection's: it is open and the packet its peer's. */
bool responder_takes(struct responder *r, const struct roce_packet *packet);
/* A WRITE packet of the connection; len: octets of its IP packet. */
void responder_on_data(struct responder *r, const struct responder_params *params,
                       const struct responder_io *io, const struct roce_packet *packet, size_t len,
                       uint64_t now);

#endif
