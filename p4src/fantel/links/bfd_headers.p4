// Headers with which a node watches its links, in wire order where they are on the wire; docs/packets.md shows them.
#ifndef FCN_BFD_HEADERS_P4
#define FCN_BFD_HEADERS_P4

#include "../../flow_control/arn_headers.p4"
#include "link_types.p4"

// BFD control packet without authentication (RFC 5880 section 4.1)
header bfd_h {
    bit<3> version;
    BfdDiagnostic diagnostic;
    BfdState state;
    bit<6> flags;
    bit<8> detect_multiplier;
    bit<8> length;
    bit<32> my_discriminator;
    bit<32> your_discriminator;
    microseconds_t desired_min_tx;
    microseconds_t required_min_rx;
    microseconds_t required_min_echo_rx;
}

// The clock packet behind its Ethernet header: of two that circulate, the older one ends. One that says so ends the others
// and itself: BMv2 takes no other program while a packet circulates.
header clock_h {
    bit<32> token;
    bit<7> pad;
    bit<1> is_last;
}

// What the clock looks at in its slot, and what is to be said then, or of a packet: by a hello, or by a message about a
// path. Never on the wire: BMv2 clears metadata for every packet, but not the fields of headers.
header order_h {
    ClockTask task;
    bit<3> pad;
    // The link, or that by which the path leaves
    port_t port;
    // Of a link: how often a quiet one has a hello, and after which silence it is down. Of a path: how often its state
    // is said again, first and later; and how long after the last packet in a congested queue it is relieved.
    microseconds_t interval;
    microseconds_t time;
    microseconds_t relief;
    // Of a link: kb/s, 0 where its utilization is not measured. Of a path: the change of its load that is said at once.
    bit<32> rate;
    bit<16> change;
    // Of a hello
    LinkState link_state;
    BfdDiagnostic diagnostic;
    bit<8> detect_multiplier;
    bit<32> my_discriminator;
    bit<32> your_discriminator;
    // Of a message about a path: it is to be sent
    bit<1> is_wanted;
    bit<1> over_icmpv6;
    PathReport report;
    core_path_t path_cell;
    path_id_t path_id;
    ipv6_addr_t ingress_pe;
    // Of a queue
    bit<8> level;
    bit<32> depth;
    // Of the link, and of the whole node: permille
    bit<16> utilization;
    bit<16> load;
}

#endif
