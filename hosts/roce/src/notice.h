/* What a requester or a responder tells whoever runs it, at the time at which it happens. */
#ifndef FCN_ROCE_NOTICE_H
#define FCN_ROCE_NOTICE_H

/* The comments say what the value is. The peer is the other host of the connection, and of
 * NOTICE_CNP and NOTICE_CUT the source of the CNP, which may be a network node. */
enum roce_notice {
    /* of a requester */
    NOTICE_CONNECTED = 1,  /* the remote queue pair */
    NOTICE_CLOSED,         /* packets acknowledged */
    NOTICE_FAILED,         /* packets acknowledged */
    NOTICE_CNP,            /* a CNP arrived: the rate before, in bit/s */
    NOTICE_CUT,            /* it cut the rate: the rate since, in bit/s */
    NOTICE_NAK,            /* the first packet that is missing, counted from 0 */
    NOTICE_TIMEOUT,        /* the first packet not acknowledged */
    NOTICE_RETRANSMISSION, /* how many packets are to be sent again */
    /* of a responder */
    NOTICE_CNP_SENT,       /* packets with CE so far */
    NOTICE_GAP,            /* how many packets are missing */
    NOTICE_NAK_SENT,       /* the PSN that is missing */
};

#endif
