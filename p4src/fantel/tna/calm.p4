#ifndef FCN_CALM_P4
#define FCN_CALM_P4

#include "../../base/sizes.p4"
#include "../../base/types.p4"

// Calm: how long ago was the last packet in a congested queue of the port?
// Reads:  port of the packet, and whether it is in one now; otherwise port of the slot, the time without one after which it is
//         relieved; time now. Ticks.
// Writes: is_calm; the time of the last such packet.
// When:   a packet that is told of, or the clock, comes to a port.
control Calm(
        in bool is_congested, in port_t port, in port_t port_of_slot, in bit<32> relief, in instant_t now,
        inout bit<1> is_calm) {
    past_interval_t interval;

    // As in FlowGate
    Register<bit<32>, port_t>(PORT_COUNTER_SIZE, NEVER) last_congested;
    RegisterAction<bit<32>, port_t, bit<1>>(last_congested) note = {
        void apply(inout bit<32> last) {
            last = now;
        }
    };
    RegisterAction<bit<32>, port_t, bit<1>>(last_congested) look = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= interval.start || last < now) {
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    RegisterAction<bit<32>, port_t, bit<1>>(last_congested) look_after_wrap = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= interval.start && last < now) {
                result = 1;
            } else {
                result = 0;
            }
        }
    };

    action find_interval() {
        SET_INTERVAL(interval, now, relief)
    }
    action note_congestion() {
        note.execute(port);
    }
    action try_look() {
        is_calm = look.execute(port_of_slot);
    }
    action try_look_after_wrap() {
        is_calm = look_after_wrap.execute(port_of_slot);
    }

    apply {
        find_interval();
        if (is_congested) {
            note_congestion();
        } else if (BEFORE_WRAP(interval)) {
            try_look_after_wrap();
        } else {
            try_look();
        }
    }
}

#endif
