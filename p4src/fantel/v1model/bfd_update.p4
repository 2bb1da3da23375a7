#ifndef FCN_BFD_UPDATE_P4
#define FCN_BFD_UPDATE_P4

#include "../../base/v1model/externs.p4"
#include "../links/bfd_headers.p4"
#include "../links/bfd_machine.p4"
#include "../links/link_types.p4"
#include "link_registers.p4"

// BfdUpdate: what the far end of a link says is taken in (RFC 5880 section 6.8.6).
// Reads:  the port it came from, BFD header.
// Writes: state of the link, and why it is down; discriminator of the far end, whether it waits for a hello; links_up,
//         links_down.
// When:   ReceiveBfd has no fault to find with it.
control BfdUpdate(in port_t port, in bfd_h bfd) {
    BfdMachine() bfd_machine;

    apply {
        bit<3> before;
        link_states.read(before, port);
        LinkState state = (LinkState)before;
        bfd_machine.apply(state, bfd.state);
        link_states.write(port, (bit<3>)state);
        far_discriminators.write(port, bfd.my_discriminator);
        if (bfd.state == BfdState.UP) {
            far_waits.write(port, 0);
        } else {
            far_waits.write(port, 1);
        }
        if ((bit<3>)state != before) {
            if (state == LinkState.UP) {
                links_up.count(port);
            } else if (state == LinkState.DOWN) {
                FailureCause cause = FailureCause.NEIGHBOR_DOWN;
                if (bfd.state == BfdState.ADMIN_DOWN) {
                    cause = FailureCause.ADMINISTRATIVE;
                }
                link_causes.write(port, (bit<8>)cause);
                if (!IS_DEAD(before)) {
                    links_down.count(port);
                }
            }
        }
    }
}

#endif
