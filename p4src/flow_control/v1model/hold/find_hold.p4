#ifndef FCN_FIND_HOLD_P4
#define FCN_FIND_HOLD_P4

#include "hold_registers.p4"

// FindHold: the hold that a packet, or a neighbour's request, is about, and whether its cell is free.
// Reads:  meta.request, meta.traffic, `port` as in Hold; of a parked packet its cell; time now; registers of holds.
// Writes: hold.
// When:   Hold is asked.
control FindHold(in bit<48> now, in port_t port, inout hold_t hold, inout flow_control_meta_t meta) {
    apply {
        hold.cell = meta.cell;
        hold.rest = 7w0 ++ port ++ meta.traffic.ip_version ++ meta.traffic.label ++ meta.traffic.protocol
            ++ meta.traffic.src_port ++ meta.traffic.dst_port ++ meta.traffic.priority;
        if (meta.request != HoldRequest.TURN) {
            hash(hold.cell, HashAlgorithm.crc16, 10w0, { hold.rest, meta.traffic.src, meta.traffic.dst },
                 (bit<32>)HOLD_CELLS);
        }
        hold_ends.read(hold.end, hold.cell);
        next_tickets.read(hold.next_ticket, hold.cell);
        next_outs.read(hold.next_out, hold.cell);
        held_packets.read(hold.packets, 0);
        held_octets.read(hold.octets, 0);

        hold.in_use = hold.end > now || hold.next_ticket != hold.next_out;
        hold.same = false;
        if (hold.in_use && meta.request != HoldRequest.TURN) {
            ipv6_addr_t source;
            ipv6_addr_t destination;
            hold_rest_t rest;
            hold_sources.read(source, hold.cell);
            hold_destinations.read(destination, hold.cell);
            hold_rests.read(rest, hold.cell);
            hold.same = source == meta.traffic.src && destination == meta.traffic.dst && rest == hold.rest;
        }
    }
}

#endif
