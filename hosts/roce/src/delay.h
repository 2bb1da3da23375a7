/*
 * Congestion control by delay, of one QP: TIMELY (Mittal et al., SIGCOMM 2015, algorithm 1) and Swift
 * (Kumar et al., SIGCOMM 2020, algorithm 1), from round trips that the caller measures. CNPs say
 * nothing to either.
 */
#ifndef FCN_ROCE_DELAY_H
#define FCN_ROCE_DELAY_H

#include <stdbool.h>
#include <stdint.h>

/* BEGIN CDEF */
enum delay_kind { DELAY_NONE, DELAY_TIMELY, DELAY_SWIFT };

/* Rates in bit/s, times in nanoseconds, windows in packets. */
struct timely_params {
    double ewma, beta, additive_increase;
    uint64_t low, high, least_rtt;
    unsigned hyper_after, hyper_factor; /* gradients in a row that are not above 0; of the increase */
};

struct swift_params {
    double window_increase, beta, max_decrease;
    double least_window, most_window;
    uint64_t base_target; /* with what the paper adds for each hop */
    uint64_t scaling;     /* fs_range: what the target has more for the smallest window */
    double scaling_least, scaling_most; /* fs_min_cwnd, fs_max_cwnd */
};

struct delay_params {
    enum delay_kind kind;
    double line_rate, min_rate;
    struct timely_params timely;
    struct swift_params swift;
};
/* END CDEF */

struct delay_control {
    struct delay_params params;
    double rate;   /* what is sent at */
    double window; /* of Swift; packets on the way */
    bool has_rtt;
    uint64_t rtt; /* the last one */
    /* TIMELY */
    double difference;
    unsigned falling;
    /* Swift */
    bool has_decreased;
    uint64_t last_decrease;
};

void delay_init(struct delay_control *d, const struct delay_params *params);

/* Swift's target for the window of now. */
double swift_target(const struct delay_control *d);

/* A round trip was measured, and so many packets were acknowledged; packet_bits: of a full one.
 * Whether rate or window was cut. */
bool delay_on_rtt(struct delay_control *d, uint64_t rtt, uint64_t packets, double packet_bits,
                  uint64_t now);
/* A packet was lost; `all`: nothing came back for long. Whether the window was cut. */
bool delay_on_loss(struct delay_control *d, bool all, uint64_t now);

/* Packets that may be on the way; one at least, which then leaves late. */
uint64_t delay_window(const struct delay_control *d);

#endif
