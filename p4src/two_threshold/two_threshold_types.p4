// What the controls of the two-threshold mode tell each other about a packet (PEC-3).
#ifndef FCN_TWO_THRESHOLD_TYPES_P4
#define FCN_TWO_THRESHOLD_TYPES_P4

#include "../base/types.p4"

// What is done with a flow whose path is lightly congested.
enum bit<2> FlowTreatment {
    NONE = 0,
    SLOW = 1,
    REROUTE = 2
}

// Time between packets of a flow in units of 1/65536 microsecond: packets of 100 Gb/s are nanoseconds apart.
typedef bit<48> flow_interval_t;

struct two_threshold_meta_t {
#if HAS_TWO_THRESHOLD
    // How long a flow is treated after it was told of, 0 where it is not treated
    microseconds_t hold;
    // This packet told of it, and has done its work.
    bool is_notified;
    FlowTreatment treatment;
    flow_interval_t slow_interval;
    flow_interval_t slow_tolerance;
#endif
}

#endif
