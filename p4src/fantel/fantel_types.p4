// What the controls of links and paths tell each other about a packet (FAN-1 to FAN-8).
#ifndef FCN_FANTEL_TYPES_P4
#define FCN_FANTEL_TYPES_P4

#include "../base/metadata.p4"

struct fantel_meta_t {
#if HAS_FANTEL
    // The clock packet, which goes round in this node
    @field_list(KEEP_CLOCK)
    bit<1> is_clock;
    // Of a hello, by which it leaves
    @field_list(KEEP_COPY)
    port_t hello_port;
    // A customer's packet whose path is congested: the sender hears of it if it did not for so long (FAN-6). 0: not.
    microseconds_t path_cnp_interval;
    bit<8> path_cnp_policy;
    // It is told for this reason alone.
    bool tells_of_path;
#endif
}

#endif
