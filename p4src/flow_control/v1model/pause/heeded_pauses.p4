#ifndef FCN_HEEDED_PAUSES_P4
#define FCN_HEEDED_PAUSES_P4

#include "../../../base/v1model/pe.p4"
#include "../hold/park.p4"

// HeededPauses: whether PAUSE frames of a port are heeded; how long a quantum of 512 bit times is there, in 2^-16 microseconds;
// how much may wait for it.
// Reads:  the port.
// Writes: is_heeded, quantum, room.
// When:   a PAUSE frame has come from there, or a customer's packet is on its way there.
control HeededPauses(in port_t port, inout bool is_heeded, inout bit<32> quantum, inout hold_room_t room) {
    action heed(bit<32> quantum_time, bit<32> packets, bit<32> octets) {
        is_heeded = true;
        quantum = quantum_time;
        room.packets = packets;
        room.octets = octets;
    }
    action ignore() {
        is_heeded = false;
        quantum = 0;
    }

    @name(".heeded_pauses")
    table heeded_pauses {
        key = {
            port: exact @name("port");
        }
        actions = {
            @tableonly heed;
            @defaultonly ignore;
        }
        const default_action = ignore;
        size = PORT_TABLE_SIZE;
    }

    apply {
        heeded_pauses.apply();
    }
}

#endif
