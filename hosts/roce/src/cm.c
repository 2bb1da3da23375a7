#include "cm.h"

#include "bytes.h"

#include <string.h>

#define CM_Q_KEY 0x80010000u
#define MAD_BASE_VERSION 1
#define MAD_CLASS_COMMUNICATION_MANAGEMENT 7
#define MAD_CLASS_VERSION 2
#define MAD_METHOD_SEND 3

/* Octets from the start of the DETH; from BTH octet 0 they are BTH_HEADER more. */
enum {
    DETH_SOURCE_QP = 5,
    MAD = DETH_HEADER,
    MAD_CLASS = MAD + 1,
    MAD_CLASS_VERSION_AT = MAD + 2,
    MAD_METHOD = MAD + 3,
    MAD_TRANSACTION = MAD + 8,
    MAD_ATTRIBUTE = MAD + 16,
    CM_LOCAL_COMM_ID = MAD + 24,
    CM_REMOTE_COMM_ID = MAD + 28,
    REQ_SERVICE_ID = MAD + 32,
    REQ_LOCAL_QP = MAD + 56,
    REQ_TRANSPORT = MAD + 67, /* remote response timeout(7:3) transport(2:1) flow control(0) */
    REQ_STARTING_PSN = MAD + 68,
    REQ_P_KEY = MAD + 72,
    REQ_PATH_MTU = MAD + 74, /* path MTU(7:4) RDC exists(3) RNR retry count(2:0) */
    REQ_LOCAL_GID = MAD + 80,
    REQ_REMOTE_GID = MAD + 96,
    REQ_HOP_LIMIT = MAD + 117,
    REJ_REASON = MAD + 34,
    REP_LOCAL_QP = MAD + 36,
    REP_STARTING_PSN = MAD + 44,
    DREQ_REMOTE_QP = MAD + 32,
};

#define RESPONSE_TIMEOUT 20 /* 4.096 us * 2^20: 4.3 s */
#define RNR_RETRY_FOR_EVER 7

/* IPv4 addresses become IPv4-mapped GIDs (RFC 4291, section 2.5.5.2), as RoCEv2 does. */
static void put_gid(uint8_t *out, const struct ip_address *address)
{
    if (address->version == 6) {
        memcpy(out, address->octets, 16);
        return;
    }
    memset(out, 0, 10);
    memset(out + 10, 0xff, 2);
    memcpy(out + 12, address->octets, 4);
}

static uint8_t mtu_code(uint16_t mtu)
{
    uint8_t code = 1; /* 256 octets */

    for (unsigned octets = 256; octets < mtu && code < 5; octets *= 2)
        code++;
    return code;
}

static void build_req(const struct cm_message *message, uint8_t *p)
{
    put64(p + REQ_SERVICE_ID, message->service_id);
    put24(p + REQ_LOCAL_QP, message->local_qp);
    p[REQ_TRANSPORT] = RESPONSE_TIMEOUT << 3; /* transport 0: RC */
    put24(p + REQ_STARTING_PSN, message->starting_psn);
    put16(p + REQ_P_KEY, DEFAULT_P_KEY);
    p[REQ_PATH_MTU] = (uint8_t)(mtu_code(message->mtu) << 4 | RNR_RETRY_FOR_EVER);
    put_gid(p + REQ_LOCAL_GID, &message->local);
    put_gid(p + REQ_REMOTE_GID, &message->remote);
    p[REQ_HOP_LIMIT] = DEFAULT_HOP_LIMIT;
}

void cm_build(const struct cm_message *message, uint8_t *p)
{
    memset(p, 0, CM_PAYLOAD);
    put32(p, CM_Q_KEY);
    put24(p + DETH_SOURCE_QP, QP_CONNECTION_MANAGER);
    p[MAD] = MAD_BASE_VERSION;
    p[MAD_CLASS] = MAD_CLASS_COMMUNICATION_MANAGEMENT;
    p[MAD_CLASS_VERSION_AT] = MAD_CLASS_VERSION;
    p[MAD_METHOD] = MAD_METHOD_SEND;
    put64(p + MAD_TRANSACTION, message->transaction);
    put16(p + MAD_ATTRIBUTE, message->attribute);
    put32(p + CM_LOCAL_COMM_ID, message->local_comm_id);
    if (message->attribute != CM_REQ)
        put32(p + CM_REMOTE_COMM_ID, message->remote_comm_id);
    switch (message->attribute) {
    case CM_REQ:
        build_req(message, p);
        break;
    case CM_REP:
        put24(p + REP_LOCAL_QP, message->local_qp);
        put24(p + REP_STARTING_PSN, message->starting_psn);
        break;
    case CM_REJ:
        put16(p + REJ_REASON, message->reject_reason);
        break;
    case CM_DREQ:
        put24(p + DREQ_REMOTE_QP, message->remote_qp);
        break;
    case CM_RTU:
    case CM_DREP:
        break;
    }
}

bool cm_parse(const uint8_t *p, size_t len, struct cm_message *message)
{
    memset(message, 0, sizeof *message);
    if (len < CM_PAYLOAD || p[MAD_CLASS] != MAD_CLASS_COMMUNICATION_MANAGEMENT)
        return false;
    message->transaction = get64(p + MAD_TRANSACTION);
    message->local_comm_id = get32(p + CM_LOCAL_COMM_ID);
    message->remote_comm_id = get32(p + CM_REMOTE_COMM_ID);
    switch (get16(p + MAD_ATTRIBUTE)) {
    case CM_REQ:
        message->attribute = CM_REQ;
        message->remote_comm_id = 0;
        message->service_id = get64(p + REQ_SERVICE_ID);
        message->local_qp = get24(p + REQ_LOCAL_QP);
        message->starting_psn = get24(p + REQ_STARTING_PSN);
        message->mtu = (uint16_t)(128u << (p[REQ_PATH_MTU] >> 4 & 7));
        return true;
    case CM_REP:
        message->attribute = CM_REP;
        message->local_qp = get24(p + REP_LOCAL_QP);
        message->starting_psn = get24(p + REP_STARTING_PSN);
        return true;
    case CM_REJ:
        message->attribute = CM_REJ;
        message->reject_reason = get16(p + REJ_REASON);
        return true;
    case CM_DREQ:
        message->attribute = CM_DREQ;
        message->remote_qp = get24(p + DREQ_REMOTE_QP);
        return true;
    case CM_RTU:
    case CM_DREP:
        message->attribute = (enum cm_attribute)get16(p + MAD_ATTRIBUTE);
        return true;
    default:
        return false;
    }
}

const char *cm_attribute_name(enum cm_attribute attribute)
{
    switch (attribute) {
    case CM_REQ:
        return "REQ";
    case CM_REJ:
        return "REJ";
    case CM_REP:
        return "REP";
    case CM_RTU:
        return "RTU";
    case CM_DREQ:
        return "DREQ";
    case CM_DREP:
        return "DREP";
    }
    return "?";
}
