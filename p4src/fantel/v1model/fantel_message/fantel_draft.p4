#ifndef FCN_FANTEL_DRAFT_P4
#define FCN_FANTEL_DRAFT_P4

#include "../../messages/fantel_headers.p4"

// A FANTEL message that is being made
struct fantel_draft_t {
    FantelType type;
    bit<8> code;
    // As behind UDP
    bit<16> length;
    // Its parameters for the checksum. The sum does not depend on the order of 16-bit words, and what is absent is zero.
    bit<352> five_tuple;
    bit<64> cause;
    bit<96> buffer;
    bit<128> load;
}

#endif
