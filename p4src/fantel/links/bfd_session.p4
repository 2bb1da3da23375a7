#ifndef FCN_BFD_SESSION_P4
#define FCN_BFD_SESSION_P4

#include "../../base/sizes.p4"
#include "../../base/types.p4"

// BfdSession: the neighbour with whom this node watches a link (RFC 5881).
// Reads:  port, source.
// Writes: is_known; this node's discriminator.
// When:   a BFD control packet for this node arrived.
control BfdSession(in port_t port, in ipv6_addr_t src, out bool is_known, out bit<32> my_discriminator) {
    action set_bfd_session(bit<32> discriminator) {
        is_known = true;
        my_discriminator = discriminator;
    }
    action no_bfd_session() {
        is_known = false;
        my_discriminator = 0;
    }

    @name(".bfd_session")
    table bfd_session {
        key = {
            port: exact @name("port");
            src: exact @name("source");
        }
        actions = {
            @tableonly set_bfd_session;
            @defaultonly no_bfd_session;
        }
        const default_action = no_bfd_session;
        size = PORT_TABLE_SIZE;
    }

    apply {
        bfd_session.apply();
    }
}

#endif
