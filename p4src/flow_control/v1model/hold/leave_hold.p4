#ifndef FCN_LEAVE_HOLD_P4
#define FCN_LEAVE_HOLD_P4

#include "hold_registers.p4"

// LeaveHold: a packet waits no more.
// Reads:  its ticket, octets and meta.egress_port; hold; time now.
// Writes: next_outs, last_outs; what waits.
// When:   TakeTurn lets the packet go.
control LeaveHold(in bit<48> now, inout hold_t hold, inout flow_control_meta_t meta) {
    apply {
        bit<32> behind = meta.ticket - hold.next_out;
        bit<32> at_port;
        bit<32> octets_at_port;
        port_packets.read(at_port, meta.egress_port);
        port_octets.read(octets_at_port, meta.egress_port);
        if (behind[31:31] == 0) {
            next_outs.write(hold.cell, meta.ticket + 1);
            last_outs.write(hold.cell, now);
            // Of those counted before the registers were reset there may be more.
            hold.packets = hold.packets |-| (behind + 1);
            at_port = at_port |-| (behind + 1);
        }
        octets_at_port = octets_at_port |-| (bit<32>)meta.octets;
        if (at_port == 0) {
            octets_at_port = 0;
        }
        port_packets.write(meta.egress_port, at_port);
        port_octets.write(meta.egress_port, octets_at_port);
        // What was lost has its octets until nothing is left.
        if (hold.packets == 0 || hold.octets < (bit<32>)meta.octets) {
            hold.octets = 0;
        } else {
            hold.octets = hold.octets - (bit<32>)meta.octets;
        }
        held_packets.write(0, hold.packets);
        held_octets.write(0, hold.octets);
    }
}

#endif
