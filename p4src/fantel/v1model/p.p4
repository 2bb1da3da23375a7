// Links that fail, and what a P says of the paths that leave by them (FAN-1 to FAN-7): its steps in the order in which
// v1model/p.p4 takes them.
#ifndef FCN_FANTEL_P_P4
#define FCN_FANTEL_P_P4

// Ingress
#include "p/hello_again.p4"
#include "p/clock_again.p4"
#include "p/link_heard.p4"
#include "p/link_message.p4"
#include "link_repair.p4"
#include "p/link_dead.p4"

// Egress
#include "p/path_copy.p4"
#include "clock_leaving.p4"
#include "p/link_leaving.p4"
#include "p/path_congested.p4"
#include "p/path_tells.p4"

#endif
