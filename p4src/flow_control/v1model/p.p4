// Precise flow control at a P (SRF-5 to SRF-7): its steps in the order in which v1model/p.p4 takes them.
#ifndef FCN_FLOW_CONTROL_P_P4
#define FCN_FLOW_CONTROL_P_P4

// Ingress
#include "hold_mode.p4"
#include "p/hold_again.p4"
#include "p/hold_lookup.p4"
#include "p/hold_message.p4"
#include "p/hold_parse.p4"
#include "p/hold_or_pass.p4"

// Egress
#include "p/hold_origin.p4"
#include "p/hold_copy.p4"
#include "p/hold_ask.p4"
#include "hold_leaving.p4"
#include "p/hold_end.p4"

#endif
