// What a node knows of its holds, and of what waits. Times are in microseconds.
#ifndef FCN_HOLD_REGISTERS_P4
#define FCN_HOLD_REGISTERS_P4

#include "../../../base/v1model/externs.p4"
#include "../../../base/sizes.p4"
#include "../../../base/types.p4"
#include "../../flow_control_types.p4"

// What is left of a hold but its addresses: port, IP version, label, protocol, ports, priority
typedef bit<112> hold_rest_t;

// Of each hold: what it stops, and until when
register<ipv6_addr_t, hold_cell_t>(HOLD_CELLS) hold_sources;
register<ipv6_addr_t, hold_cell_t>(HOLD_CELLS) hold_destinations;
register<hold_rest_t, hold_cell_t>(HOLD_CELLS) hold_rests;
register<bit<48>, hold_cell_t>(HOLD_CELLS) hold_ends;
// The ticket for the next packet that has to wait, and that of the next to leave; when one left last
register<bit<32>, hold_cell_t>(HOLD_CELLS) next_tickets;
register<bit<32>, hold_cell_t>(HOLD_CELLS) next_outs;
register<bit<48>, hold_cell_t>(HOLD_CELLS) last_outs;

// What waits: at the node, and by the port it waits for
register<bit<32>, bit<1>>(1) held_packets;
register<bit<32>, bit<1>>(1) held_octets;
register<bit<32>, port_t>(PORT_COUNTER_SIZE) port_packets;
register<bit<32>, port_t>(PORT_COUNTER_SIZE) port_octets;

// BudgetState: Hold in ingress writes it, egress reads it. What it was before the packet waited in a
// queue would be out of date there.
register<bit<2>, bit<1>>(1) budget_state;

// How long the queue of a port was when a packet left it last; egress writes it.
register<bit<19>, port_t>(PORT_COUNTER_SIZE) queue_depths;

// Of a hold, and of the node, what a packet or a neighbour's request finds
struct hold_t {
    hold_cell_t cell;
    // What it would stop
    hold_rest_t rest;
    // Of the hold in this cell
    bit<48> end;
    bit<32> next_ticket;
    bit<32> next_out;
    // It lasts, or packets still wait; and it is this traffic's.
    bool in_use;
    bool same;
    // At the node
    bit<32> packets;
    bit<32> octets;
}

#endif
