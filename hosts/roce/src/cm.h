/*
 * InfiniBand connection manager messages (IBA specification volume 1, chapter 12) as RoCEv2 carries
 * them: UD SEND Only to QP1 with a DETH and one 256-octet MAD. Only the fields a peer needs to
 * connect, and those from which a network node learns the queue pairs, are supported.
 */
#ifndef FCN_ROCE_CM_H
#define FCN_ROCE_CM_H

#include "packet.h"

#define CM_PAYLOAD (DETH_HEADER + MAD_LENGTH)

enum cm_attribute {
    CM_REQ = 0x10,
    CM_REJ = 0x12,
    CM_REP = 0x13,
    CM_RTU = 0x14,
    CM_DREQ = 0x15,
    CM_DREP = 0x16,
};

/* Fields a message does not carry are zero after cm_parse and ignored by cm_build. */
struct cm_message {
    enum cm_attribute attribute;
    uint64_t transaction;
    uint32_t local_comm_id;
    uint32_t remote_comm_id;
    uint32_t local_qp;     /* REQ, REP */
    uint32_t remote_qp;    /* DREQ */
    uint32_t starting_psn; /* REQ, REP */
    uint64_t service_id;   /* REQ */
    uint16_t mtu;          /* REQ: path MTU in octets */
    uint16_t reject_reason; /* REJ */
    struct ip_address local, remote; /* REQ: become the GIDs */
};

#define CM_REJECT_NO_RESOURCES 3
#define CM_REJECT_INVALID_SERVICE_ID 8

/* Write DETH and MAD into payload (CM_PAYLOAD octets). */
void cm_build(const struct cm_message *message, uint8_t *payload);

/* Read a QP1 payload (DETH first); false when it is no CM message of the kinds above. */
bool cm_parse(const uint8_t *payload, size_t len, struct cm_message *message);

const char *cm_attribute_name(enum cm_attribute attribute);

#endif
