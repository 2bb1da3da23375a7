// What is known of links, by port; written by what arrives, by the clock, and by what leaves.
#ifndef FCN_LINK_REGISTERS_P4
#define FCN_LINK_REGISTERS_P4

register<bit<3>, port_t>(PORT_COUNTER_SIZE) link_states;
// When a packet last came from there, and last went there, in microseconds; 0: never
register<bit<48>, port_t>(PORT_COUNTER_SIZE) last_heard;
register<bit<48>, port_t>(PORT_COUNTER_SIZE) last_sent;
// When a packet last left a congested queue there, in microseconds; 0: never
register<bit<48>, port_t>(PORT_COUNTER_SIZE) last_congested;
// The far end's discriminator
register<bit<32>, port_t>(PORT_COUNTER_SIZE) far_discriminators;

// Changes of links: to UP, and to DOWN
@name(".links_up")
counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets) links_up;
@name(".links_down")
counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets) links_down;

#define IS_DEAD(state) ((state) >= 3)

#endif
