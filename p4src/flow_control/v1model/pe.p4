// Precise flow control at a PE (SRF-5 to SRF-9): its steps in the order in which v1model/pe.p4 takes them.
#ifndef FCN_FLOW_CONTROL_PE_P4
#define FCN_FLOW_CONTROL_PE_P4

// Ingress
#include "hold_mode.p4"
#include "pe/hold_again.p4"
#include "pe/hold_arrival.p4"
#include "pe/hold_lookup.p4"
#include "pe/hold_message.p4"
#include "pe/hold_tunnel_end.p4"
#include "pe/hold_encap.p4"
#include "pe/hold_or_pass.p4"

// Egress
#include "pe/hold_origin.p4"
#include "pe/hold_copy.p4"
#include "pe/hold_ask.p4"
#include "hold_leaving.p4"
#include "pe/hold_end.p4"

#endif
