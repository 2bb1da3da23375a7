#ifndef FCN_PARK_P4
#define FCN_PARK_P4

#include "hold_budget.p4"
#include "hold_registers.p4"

// What may wait for one port: a data centre has a share of the budget, a neighbour all of it.
struct hold_room_t {
    bit<32> packets;
    bit<32> octets;
}
const hold_room_t ALL_ROOM = { 0xffffffff, 0xffffffff };

// Park: a new packet of traffic that is held takes a ticket, and waits.
// Reads:  the port it would leave by, its octets; room at that port; budget; hold.
// Writes: meta.verdict, meta.event; meta.cell, ticket and octets of the packet; next_tickets; what waits.
// When:   meta.request == HoldRequest.PASS, and its hold is in use.
control Park(
        in port_t port, in bit<16> octets, in hold_room_t room, in hold_budget_t budget, inout hold_t hold,
        inout flow_control_meta_t meta) {
    apply {
        bit<32> at_port;
        bit<32> octets_at_port;
        port_packets.read(at_port, port);
        port_octets.read(octets_at_port, port);
        if (hold.packets >= budget.packets || hold.octets + (bit<32>)octets > budget.octets || at_port >= room.packets
                || octets_at_port + (bit<32>)octets > room.octets) {
            meta.verdict = HoldVerdict.NO_ROOM;
        } else {
            hold.packets = hold.packets + 1;
            hold.octets = hold.octets + (bit<32>)octets;
            held_packets.write(0, hold.packets);
            held_octets.write(0, hold.octets);
            port_packets.write(port, at_port + 1);
            port_octets.write(port, octets_at_port + (bit<32>)octets);
            next_tickets.write(hold.cell, hold.next_ticket + 1);
            meta.cell = hold.cell;
            meta.ticket = hold.next_ticket;
            meta.octets = octets;
            meta.verdict = HoldVerdict.WAIT;
            meta.event = HoldEvent.PARKED;
        }
    }
}

#endif
