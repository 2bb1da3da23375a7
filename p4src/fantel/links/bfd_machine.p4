#ifndef FCN_BFD_MACHINE_P4
#define FCN_BFD_MACHINE_P4

#include "link_types.p4"

// BfdMachine: what a link's state becomes by what its far end says (RFC 5880 section 6.8.6).
// Reads:  its state here and there.
// Writes: its state here.
// When:   a BFD control packet of this link's neighbour was taken.
control BfdMachine(inout LinkState state, in BfdState received) {
    action become(LinkState next) {
        state = next;
    }
    action stay() { }

    @name(".bfd_machine")
    table bfd_machine {
        key = {
            state: exact @name("state");
            received: exact @name("received");
        }
        actions = {
            become;
            stay;
        }
        const default_action = stay;
        const entries = {
            (LinkState.UNKNOWN, BfdState.DOWN): become(LinkState.STARTING);
            (LinkState.UNKNOWN, BfdState.INIT): become(LinkState.UP);
            (LinkState.STARTING, BfdState.ADMIN_DOWN): become(LinkState.UNKNOWN);
            (LinkState.STARTING, BfdState.INIT): become(LinkState.UP);
            (LinkState.STARTING, BfdState.UP): become(LinkState.UP);
            (LinkState.UP, BfdState.ADMIN_DOWN): become(LinkState.DOWN);
            (LinkState.UP, BfdState.DOWN): become(LinkState.DOWN);
            (LinkState.DOWN, BfdState.DOWN): become(LinkState.RISING);
            (LinkState.DOWN, BfdState.INIT): become(LinkState.UP);
            (LinkState.RISING, BfdState.ADMIN_DOWN): become(LinkState.DOWN);
            (LinkState.RISING, BfdState.INIT): become(LinkState.UP);
            (LinkState.RISING, BfdState.UP): become(LinkState.UP);
        }
    }

    apply {
        bfd_machine.apply();
    }
}

#endif
