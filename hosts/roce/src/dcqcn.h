/*
 * DCQCN reaction point of one QP (Zhu et al., "Congestion Control for Large-Scale RDMA
 * Deployments", SIGCOMM 2015, section 3). The caller passes the time.
 */
#ifndef FCN_ROCE_DCQCN_H
#define FCN_ROCE_DCQCN_H

#include <stdbool.h>
#include <stdint.h>

/* Rates in bit/s, times in nanoseconds, byte_counter in octets. */
struct dcqcn_params {
    double line_rate;
    double min_rate;
    double g;
    double additive_increase;
    double hyper_increase;
    uint64_t alpha_period;
    uint64_t increase_period;
    uint64_t byte_counter;
    unsigned fast_recovery_steps;
    uint64_t cut_interval; /* CNPs within this time after a cut do not cut again; 0: all CNPs cut */
};

struct dcqcn {
    struct dcqcn_params params;
    double current_rate; /* R_C */
    double target_rate;  /* R_T */
    double alpha;
    uint64_t alpha_due, increase_due;
    uint64_t octets;
    unsigned timer_steps, byte_steps;
    bool has_cut;
    uint64_t last_cut;
};

/* Line rate and alpha 1; timers and byte counter start with the first CNP, as in NICs. */
void dcqcn_init(struct dcqcn *rp, const struct dcqcn_params *params);

/* Run the timers that fell due up to now. */
void dcqcn_advance(struct dcqcn *rp, uint64_t now);

/* A valid CNP arrived: cut the rate. Returns false when cut_interval suppressed the cut. */
bool dcqcn_on_cnp(struct dcqcn *rp, uint64_t now);

/* `octets` were sent: the byte counter may raise the rate. */
void dcqcn_on_sent(struct dcqcn *rp, uint64_t octets, uint64_t now);

#endif
