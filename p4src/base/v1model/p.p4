// What every step of a transit node uses on BMv2, and how the steps that both programs have call it.
#ifndef FCN_V1MODEL_P_P4
#define FCN_V1MODEL_P_P4

#include "externs.p4"
#include "../p_headers.p4"
#include "../p_metadata.p4"
#include "../sizes.p4"
#include "counters.p4"

typedef p_headers_t headers_t;
typedef p_meta_t meta_t;

// The customer's packet in a tunnel
#define INNER(hdr) (hdr).inner
// For HeldFlow: where a tunnel hides its flow, the parser has extracted none of it.
#define FLOW_IS_HIDDEN(hdr, meta) false

#endif
