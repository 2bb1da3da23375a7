// What is known of links, by port; written by what arrives, by the clock, and by what leaves.
#ifndef FCN_LINK_REGISTERS_P4
#define FCN_LINK_REGISTERS_P4

#include "../../base/v1model/externs.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"
#include "../links/link_types.p4"

register<bit<3>, port_t>(PORT_COUNTER_SIZE) link_states;
// Why a link went down, FailureCause
register<bit<8>, port_t>(PORT_COUNTER_SIZE) link_causes;
// 0: nobody looks at links, or no more, so that nobody would notice that one is up again.
register<bit<1>, bit<1>>(1) clock_runs;
// Since when it does, in microseconds
register<bit<48>, bit<1>>(1) clock_began;
// When a packet last came from there, in microseconds; 0: never
register<bit<48>, port_t>(PORT_COUNTER_SIZE) last_heard;
// When one last went there, in microseconds; level and depth of the queue it came from; octets that ever went, in a circle
register<bit<102>, port_t>(PORT_COUNTER_SIZE) port_sent;
#define SENT_TIME 101:54
#define SENT_LEVEL 53:51
#define SENT_DEPTH 50:32
#define SENT_OCTETS 31:0
// When the newest packet of all had come, at the end of the last two rounds of the clock; now: last_heard of CLOCK_PORT
register<bit<48>, bit<1>>(2) newest_of_rounds;
// When a packet last left a congested queue there, in microseconds; 0: never
register<bit<48>, port_t>(PORT_COUNTER_SIZE) last_congested;
// The far end's discriminator
register<bit<32>, port_t>(PORT_COUNTER_SIZE) far_discriminators;
// 1: the far end has said that it is not up; only a hello helps it, however busy the link is.
register<bit<1>, port_t>(PORT_COUNTER_SIZE) far_waits;

// Changes of links: to UP, and to DOWN. The first less the second is 1 while a link is up, so one that is down without
// having been up counts in both.
@name(".links_up")
counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets) links_up;
@name(".links_down")
counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets) links_down;

// DOWN or RISING
#define IS_DEAD(state) ((state) >= (bit<3>)LinkState.DOWN)

#endif
