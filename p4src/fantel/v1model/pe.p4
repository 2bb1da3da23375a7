// Links and paths that fail, are congested or loaded, at a PE (FAN-1 to FAN-8): its steps in the order in which v1model/pe.p4
// takes them.
#ifndef FCN_FANTEL_PE_P4
#define FCN_FANTEL_PE_P4

// Behind the parser
#include "pe/path_checksums.p4"

// Ingress
#include "pe/path_reported.p4"
#include "pe/hello_again.p4"
#include "pe/clock_again.p4"
#include "pe/link_heard.p4"
#include "pe/path_flow.p4"
#include "pe/path_message.p4"
#include "pe/path_update.p4"
#include "pe/path_chosen.p4"
#include "link_repair.p4"

// Egress
#include "pe/hello_copy.p4"
#include "clock_leaving.p4"
#include "pe/link_leaving.p4"
#include "pe/path_congested.p4"
#include "pe/path_counted.p4"

#endif
