/*
 * Octet offsets and code points of the headers a RoCEv2 packet consists of: IPv4 (RFC 791),
 * IPv6 (RFC 8200), UDP (RFC 768), BTH, DETH, RETH, AETH (InfiniBand Architecture Specification).
 */
#ifndef FCN_ROCE_WIRE_H
#define FCN_ROCE_WIRE_H

#define ROCE_UDP_PORT 4791
#define IP_PROTOCOL_TCP 6
#define IP_PROTOCOL_UDP 17

enum {
    IPV4_HEADER = 20,
    IPV4_TOS = 1,
    IPV4_LENGTH = 2,
    IPV4_ID = 4,
    IPV4_FLAGS = 6,
    IPV4_TTL = 8,
    IPV4_PROTOCOL = 9,
    IPV4_CHECKSUM = 10,
    IPV4_SRC = 12,
    IPV4_DST = 16,
    IPV4_DONT_FRAGMENT = 0x4000,
    IPV4_MORE_AND_OFFSET = 0x3fff,

    IPV6_HEADER = 40,
    IPV6_LENGTH = 4,
    IPV6_NEXT_HEADER = 6,
    IPV6_HOP_LIMIT = 7,
    IPV6_SRC = 8,
    IPV6_DST = 24,

    UDP_HEADER = 8,
    UDP_SRC = 0,
    UDP_DST = 2,
    UDP_LENGTH = 4,
    UDP_CHECKSUM = 6,

    BTH_HEADER = 12,
    BTH_FLAGS = 1, /* SE(7) M(6) Pad(5:4) TVer(3:0) */
    BTH_P_KEY = 2,
    BTH_BECN = 4, /* FECN(7) BECN(6) */
    BTH_DEST_QP = 5,
    BTH_ACK_REQ = 8, /* AckReq(7) */
    BTH_PSN = 9,

    RETH_HEADER = 16, /* virtual address(64) R_Key(32) DMA length(32) */
    AETH_HEADER = 4,  /* syndrome(8) MSN(24) */
    SACK_HEADER = 4,  /* behind a NAK of selective repeat: reserved(8) PSN(24) that was kept */
    DETH_HEADER = 8,  /* Q_Key(32) reserved(8) source QP(24) */
    MAD_LENGTH = 256,
    ICRC_LENGTH = 4,
    CNP_PAYLOAD = 16,
};

enum opcode {
    RC_WRITE_FIRST = 0x06,
    RC_WRITE_MIDDLE = 0x07,
    RC_WRITE_LAST = 0x08,
    RC_WRITE_ONLY = 0x0a,
    RC_ACKNOWLEDGE = 0x11,
    UD_SEND_ONLY = 0x64,
    OPCODE_CNP = 0x81,
};

/* BEGIN CDEF */
enum ecn { NOT_ECT = 0, ECT_1 = 1, ECT_0 = 2, ECN_CE = 3 };
/* END CDEF */

#define DEFAULT_P_KEY 0xffffu
#define PSN_MASK 0xffffffu
#define QP_CONNECTION_MANAGER 1u
/* ACK with credit count 31 ("invalid"): end-to-end flow control is not in use. */
#define AETH_ACK 0x1fu
/* The three high bits of a syndrome say what it is; those of an ACK are zero. */
#define AETH_KIND 0xe0u
#define AETH_NAK_SEQUENCE 0x60u /* packets are missing: the PSN is the one expected */
/* Class selector 6 (network control), as ConnectX sends its CNPs. */
#define CNP_DSCP 48
#define DEFAULT_DATA_DSCP 26
#define DEFAULT_HOP_LIMIT 64

#endif
