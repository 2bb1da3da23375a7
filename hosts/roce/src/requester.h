/*
 * The sending side of a reliable connection: connection manager, RDMA WRITEs with go-back-N or
 * selective repeat, and congestion control: DCQCN's reaction point, or TIMELY or Swift in its place.
 * It knows neither sockets nor a clock: the caller passes the time in nanoseconds, delivers what
 * arrives and asks when to call again.
 *
 * Selective repeat is that of IRN (Mittal et al., SIGCOMM 2018, section 3.1): a NAK has the PSN of a
 * packet that the receiver kept, and each packet before that it has not said to have is lost. It is
 * sent again once; a time-out sends again all that the receiver has not said to have.
 */
#ifndef FCN_ROCE_REQUESTER_H
#define FCN_ROCE_REQUESTER_H

#include "cm.h"
#include "dcqcn.h"
#include "delay.h"
#include "marks.h"
#include "notice.h"
#include "packet.h"

#define ROCE_NEVER UINT64_MAX
#define REQUESTER_TIME 8u

enum requester_state { UNCONNECTED, CONNECTING, CONNECTED, DISCONNECTING, CLOSED, FAILED };

/* BEGIN CDEF */
struct requester_params {
    struct ip_address local, remote;
    uint16_t mtu;
    uint8_t dscp;
    enum ecn ecn;
    unsigned ack_every;     /* packets, within a message; its last one always asks for an ACK */
    uint32_t window;        /* packets sent and not acknowledged, below 2^23 */
    uint64_t timeout;       /* without progress until everything is sent again */
    bool selective;         /* selective repeat; otherwise go-back-N */
    unsigned retries;       /* timeouts in a row that end the connection */
    uint64_t service_id;
    uint64_t cm_timeout;
    unsigned cm_retries;
    uint64_t max_lag;       /* longest delay behind its schedule that a QP makes up for */
    struct dcqcn_params dcqcn;
    struct delay_params delay; /* of DELAY_NONE DCQCN is in charge */
};
/* END CDEF */

/* A packet that asks for an ACK, and when it was sent. */
struct asked {
    uint64_t packet, at;
};

/* A message of `size` octets, sent from `start` on; its packets are numbered from `first`. */
struct message {
    uint64_t id, size, start;
    uint64_t first, packets;
};

struct requester {
    struct requester_params params;
    enum requester_state state;
    uint32_t local_qp, remote_qp;
    uint32_t local_comm_id, remote_comm_id;
    uint64_t cm_at;
    unsigned cm_tries;
    /* Packets are counted from 0; the PSN of a packet is its number plus first_psn. Those before
     * `acknowledged` have arrived, `next` is sent next, those before `highest` were sent. */
    uint32_t first_psn;
    uint64_t acknowledged, next, highest, posted;
    uint64_t asked_before; /* the packet before it was the last one that asked for an ACK */
    /* Messages not yet complete: one, as a rule, which is with what else a packet needs; since there
     * were more, a ring of `ring_size` (NULL: not yet). `cursor` is the one `next` belongs to. */
    struct message only, *messages;
    uint64_t ring_size, first_message, end_message, cursor;
    /* Of selective repeat: what the receiver kept, up to `kept_end`; from `again` to `lost_end` all
     * else is to be sent again, and `again_cursor` is the message that `again` belongs to. */
    struct marks kept;
    uint64_t kept_end, again, lost_end, again_cursor;
    struct dcqcn rp;
    struct delay_control delay;
    /* Those not answered yet: a ring of `asked_size`. None of packets that were sent again, whose
     * ACK may be of the first time. */
    struct asked *asked;
    uint64_t asked_size, first_asked, end_asked;
    struct ip_address cnp_from; /* of the last CNP */
    bool has_sent;
    uint64_t last_sent;
    size_t last_len;
    double fraction; /* of a nanosecond that the schedule is beyond last_sent */
    uint64_t timeout_at;
    unsigned timeouts_in_a_row;
    uint64_t packets, octets, retransmitted, acks, naks, timeouts, cnps, cuts;
};

/* What a requester does to the world. `completed`: all of a message was acknowledged. `notice`: see
 * notice.h. */
struct requester_io {
    void *context;
    void (*send)(void *context, struct roce_packet *packet, uint64_t now);
    void (*completed)(void *context, const struct requester *r, const struct message *m,
                      uint64_t now);
    void (*notice)(void *context, const struct requester *r, enum roce_notice what, uint64_t value,
                   const struct ip_address *peer, uint64_t now);
};

void requester_init(struct requester *r, const struct requester_params *params, uint32_t local_qp,
                    uint32_t comm_id, uint32_t first_psn);
void requester_free(struct requester *r);

/* The queue pairs are known on both sides: no connection manager is needed. */
void requester_join(struct requester *r, uint32_t remote_qp);
/* Connect by the connection manager, from `at` on. */
void requester_connect(struct requester *r, uint64_t at);
/* Disconnect at `at`; what was not acknowledged is given up. */
void requester_disconnect(struct requester *r, uint64_t at);

/* Write a message of at least one octet, after those posted before; false without memory. */
bool requester_post(struct requester *r, uint64_t id, uint64_t size, uint64_t start);

/* In bit/s; of Swift its window in the last round trip. */
double requester_rate(const struct requester *r);

/* When requester_timers has something to do, and when the next packet of data may be sent. */
uint64_t requester_timer_due(const struct requester *r);
uint64_t requester_data_due(const struct requester *r);
void requester_timers(struct requester *r, const struct requester_io *io, uint64_t now);
/* Send the packet that is due; the octets of its IP packet. Its payload begins with the time, where
 * it has eight octets (REQUESTER_TIME). */
size_t requester_send(struct requester *r, const struct requester_io *io, uint64_t now);

void requester_on_cm(struct requester *r, const struct requester_io *io,
                     const struct cm_message *message, uint64_t now);
void requester_on_ack(struct requester *r, const struct requester_io *io,
                      const struct roce_packet *packet, uint64_t now);
void requester_on_cnp(struct requester *r, const struct requester_io *io,
                      const struct roce_packet *packet, uint64_t now);

#endif
