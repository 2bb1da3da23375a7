#ifndef FCN_TNA_BRIDGE_P4
#define FCN_TNA_BRIDGE_P4

#include "../base/tna/pass_headers.p4"

// Bridge: what the egress is to know of a packet (PassType).
// Writes: bridge header; a copy's ends.
// When:   once in each pass of ingress.
control Bridge(inout bridge_h bridge, inout copy_h copy)(PassType pass) {
    action to_egress() {
        bridge.setValid();
        bridge.pass = pass;
        copy.setInvalid();
    }

    apply {
        to_egress();
    }
}

#endif
