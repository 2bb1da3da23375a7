#ifndef FCN_TNA_LINK_FAULT_P4
#define FCN_TNA_LINK_FAULT_P4

#include "../../../base/sizes.p4"
#include "../../../base/tna/externs.p4"
#include "links_metadata.p4"

// LinkFault: is a link dead, and why? One that was up and is not up again.
// Reads:  port; has_changed, cause.
// Writes: fault: 0 where it is not dead; where there was a change, what is known of the link.
// When:   of a link that has changed, by which a packet leaves, or that is asked for.
control LinkFault(in port_t port, in bit<1> has_changed, in bit<8> cause, inout bit<8> fault) {
    Register<bit<8>, port_t>(PORT_COUNTER_SIZE) faults;
    RegisterAction<bit<8>, port_t, bit<8>>(faults) become = {
        void apply(inout bit<8> known) {
            known = cause;
        }
    };
    RegisterAction<bit<8>, port_t, bit<8>>(faults) look = {
        void apply(inout bit<8> known, out bit<8> result) {
            result = known;
        }
    };

    action note_change() {
        become.execute(port);
    }
    action try_look() {
        fault = look.execute(port);
    }

    apply {
        if (has_changed == 1) {
            note_change();
        } else {
            try_look();
        }
    }
}

#endif
