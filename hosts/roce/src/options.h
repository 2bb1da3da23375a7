/* Command line of fcn-roce. */
#ifndef FCN_ROCE_OPTIONS_H
#define FCN_ROCE_OPTIONS_H

#include "dcqcn.h"
#include "packet.h"

#include <stdio.h>

#define MAX_QPS 64

struct qp_pair {
    uint32_t local, remote;
};

struct options {
    bool sender;
    struct ip_address local, remote;
    FILE *log;
    uint64_t log_interval;
    /* Queue pairs known in advance; without any the connection manager sets up qp_count. */
    struct qp_pair pairs[MAX_QPS];
    unsigned pair_count;
    unsigned qp_count;
    uint32_t first_qp;
    uint64_t service_id;
    uint64_t cm_timeout;
    unsigned cm_retries;
    /* sender */
    uint16_t mtu;
    uint8_t dscp;
    enum ecn ecn;
    unsigned message_packets;
    uint64_t start_at; /* CLOCK_MONOTONIC; 0: as soon as all are connected */
    uint64_t duration;
    /* Rounds from the first data packet on, 0: one that does not end. Messages begin in the first
     * part of each, `round_sending`; `round_reset` after its begin, reaction points begin anew. */
    uint64_t round, round_sending, round_reset;
    uint64_t timeout; /* without progress until everything is sent again */
    uint64_t hold; /* connected, silent, after the duration */
    uint64_t link_rate; /* bit/s, of a PAUSE's quanta; 0: PAUSE frames are not heeded */
    struct dcqcn_params dcqcn;
    /* receiver */
    uint64_t cnp_interval;
};

/* Fill options from the command line; false after printing the reason or the help to stderr. */
bool options_parse(int argc, char **argv, struct options *options);

#endif
