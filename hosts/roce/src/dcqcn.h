/*
 * DCQCN reaction point of one QP (Zhu et al., "Congestion Control for Large-Scale RDMA
 * Deployments", SIGCOMM 2015, section 3), and as NICs have it. The caller passes the time.
 */
#ifndef FCN_ROCE_DCQCN_H
#define FCN_ROCE_DCQCN_H

#include <stdbool.h>
#include <stdint.h>

#define DCQCN_NEVER UINT64_MAX

/* BEGIN CDEF */
/* Rates in bit/s, times in nanoseconds, byte_counter in octets. */
struct dcqcn_params {
    double line_rate;
    double min_rate;
    double g;
    double initial_alpha;
    double additive_increase;
    double hyper_increase;
    uint64_t alpha_period;
    uint64_t increase_period;
    uint64_t byte_counter; /* 0: none, the rate rises by the timer alone */
    unsigned fast_recovery_steps;
    uint64_t cut_interval; /* CNPs within this time after a cut do not cut again; 0: all CNPs cut */
    uint64_t cut_period;   /* what cuts is whether a CNP came in such a time; 0: each CNP, at once */
    bool alpha_by_timer;   /* alpha rises as it falls, once in a period, instead of at each cut */
    bool clamp_target;     /* R_T is R_C at each cut, also when the timer has not raised it since one */
};
/* END CDEF */

struct dcqcn {
    struct dcqcn_params params;
    double current_rate; /* R_C */
    double target_rate;  /* R_T */
    double alpha;
    uint64_t alpha_due, increase_due, cut_due; /* DCQCN_NEVER: it does not run */
    uint64_t octets;
    unsigned timer_steps, byte_steps;
    bool has_cnp, has_cut;
    bool alpha_rises; /* a CNP came in this period of alpha */
    bool cut_is_new;  /* nobody was told of the last one: the caller clears it */
    uint64_t first_cnp, last_cut;
};

/* Line rate and the initial alpha; timers and byte counter start with the first CNP, as in NICs. */
void dcqcn_init(struct dcqcn *rp, const struct dcqcn_params *params);

/* Run the timers that fell due up to now. */
void dcqcn_advance(struct dcqcn *rp, uint64_t now);

/* A valid CNP arrived: cut the rate, at once or at the end of the period it is in. */
void dcqcn_on_cnp(struct dcqcn *rp, uint64_t now);

/* `octets` were sent: the byte counter may raise the rate. */
void dcqcn_on_sent(struct dcqcn *rp, uint64_t octets, uint64_t now);

#endif
