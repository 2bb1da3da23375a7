// The two-threshold mode at a PE (PEC-1, PEC-3): its steps in the order in which v1model/pe.p4 takes them.
#ifndef FCN_TWO_THRESHOLD_PE_P4
#define FCN_TWO_THRESHOLD_PE_P4

// Ingress
#include "pe/light_mode.p4"
#include "pe/light_notified.p4"
#include "pe/light_flow.p4"

// Egress
#include "curve_marking.p4"

#endif
