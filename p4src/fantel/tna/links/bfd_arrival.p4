#ifndef FCN_TNA_BFD_ARRIVAL_P4
#define FCN_TNA_BFD_ARRIVAL_P4

#include "../../../base/headers.p4"
#include "../../../base/metadata.p4"
#include "../../../base/sizes.p4"
#include "../../../base/tna/pseudo_header.p4"
#include "../../links/bfd_headers.p4"
#include "links_metadata.p4"

// Of a sound BFD packet, by what it says of this node's discriminator and the state it says
#define SOUND_BFD(names_none, difference, state, event)                                                           \
    (UDP_PROTOCOL, BFD_UDP_LENGTH, BFD_UDP_LENGTH, BFD_VERSION, BFD_LENGTH, 0 &&& BFD_REFUSED_FLAGS, _, _,        \
        names_none, difference, state): take(event);

// BfdArrival: what the far end of a link says (RFC 5880 section 6.8.6, RFC 5881 section 5), as ReceiveBfd of v1model.
// Reads:  underlay, UDP and BFD headers; md.port, sum.
// Writes: md.event.
// When:   a BFD control packet for this node.
control BfdArrival(in ipv6_h ipv6, in udp_h udp, in bfd_h bfd, inout links_meta_t md) {
    bit<1> names_none = 0;
    bit<32> difference;

    action name_none() {
        names_none = 1;
    }
    action set_bfd_session(bit<32> discriminator) {
        difference = bfd.your_discriminator ^ discriminator;
    }
    action no_bfd_session() { }

    // As of BfdSession
    @name(".bfd_session")
    table bfd_session {
        key = {
            md.port: exact @name("port");
            ipv6.src: exact @name("source");
        }
        actions = {
            @tableonly set_bfd_session;
            @defaultonly no_bfd_session;
        }
        const default_action = no_bfd_session;
        size = PORT_TABLE_SIZE;
    }

    action take(LinkEvent event) {
        md.event = event;
    }
    action distrust() {
        md.event = LinkEvent.UNTRUSTED;
    }

    // No discriminator comes from who does not hear this node.
    @hidden
    table sound_bfd {
        key = {
            md.sum: ternary;
            udp.length: ternary;
            ipv6.payload_len: ternary;
            bfd.version: ternary;
            bfd.length: ternary;
            bfd.flags: ternary;
            bfd.detect_multiplier: ternary;
            bfd.my_discriminator: ternary;
            names_none: ternary;
            difference: ternary;
            bfd.state: ternary;
        }
        actions = {
            take;
        }
        const default_action = take(LinkEvent.MALFORMED);
        const entries = {
            (_, _, _, _, _, _, 0, _, _, _, _): take(LinkEvent.MALFORMED);
            (_, _, _, _, _, _, _, 0, _, _, _): take(LinkEvent.MALFORMED);
            SOUND_BFD(_, 0, BfdState.ADMIN_DOWN, LinkEvent.ADMIN_DOWN)
            SOUND_BFD(_, 0, BfdState.DOWN, LinkEvent.DOWN)
            SOUND_BFD(_, 0, BfdState.INIT, LinkEvent.INIT)
            SOUND_BFD(_, 0, BfdState.UP, LinkEvent.UP)
            SOUND_BFD(1, _, BfdState.ADMIN_DOWN, LinkEvent.ADMIN_DOWN)
            SOUND_BFD(1, _, BfdState.DOWN, LinkEvent.DOWN)
        }
    }

    apply {
        if (bfd.your_discriminator == 0) {
            name_none();
        }
        if (!bfd_session.apply().hit) {
            distrust();
        } else if (ipv6.hop_limit != BFD_HOP_LIMIT) {
            distrust();
        } else {
            sound_bfd.apply();
        }
    }
}

#endif
