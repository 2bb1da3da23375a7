// What the controls of a chip's links tell each other about a packet in ingress.
#ifndef FCN_TNA_LINKS_METADATA_P4
#define FCN_TNA_LINKS_METADATA_P4

#include "../../../base/tna/externs.p4"
#include "../../../base/types.p4"
#include "../../links/link_types.p4"

// What a packet, or the clock, has to say to the session of a link; BfdState plus 1, and LOOK
enum bit<8> LinkEvent {
    NONE = 0,
    ADMIN_DOWN = 1,
    DOWN = 2,
    INIT = 3,
    UP = 4,
    // Nothing; what is known is asked for.
    LOOK = 5,
    // It is not believed.
    MALFORMED = 6,
    UNTRUSTED = 7
}

// State of the session of a link (RFC 5880 section 6.8.6); BfdState less 1. That it was up, and is not any more, is in
// LinkFault.
enum bit<8> SessionState {
    DOWN = 0,
    INIT = 1,
    UP = 2
}

struct links_meta_t {
    // The parser's: a slot of the clock is to be looked up, and which; UDP sum of a BFD packet, as of a Fast CNP
    bit<1> has_slot;
    bit<16> slot;
    bit<16> sum;
    // The link that the packet, the clock or a hello is about; first the port it came from
    port_t port;
    instant_t now;
    // Of the slot
    ClockTask task;
    // How long nothing may be heard of the link; of a path, in which nothing is repeated
    past_interval_t silence;
    // In which nothing is said again of the path, or to the far end
    past_interval_t interval;

    // Of clock packets
    bit<1> is_youngest;

    bit<1> is_silent;
    LinkEvent event;
    SessionState before;
    // The link came up, or went down for this FailureCause.
    bit<1> has_changed;
    bit<8> cause;
    // What was known before: FailureCause, 0 while the link is not dead
    bit<8> fault;
}

#endif
