// Headers with which a node watches its links, in wire order where they are on the wire; docs/packets.md shows them.
#ifndef FCN_BFD_HEADERS_P4
#define FCN_BFD_HEADERS_P4

#include "../../base/types.p4"
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

// The link that the clock looks at in its slot, and the hello for its far end. Never on the wire: BMv2 clears metadata for
// every packet, but not the fields of headers.
header hello_h {
    port_t port;
    // How often a quiet link has a hello, and after which silence it is down
    microseconds_t interval;
    microseconds_t time;
    // kb/s, 0 where its utilization is not measured
    bit<32> rate;
    LinkState link_state;
    BfdDiagnostic diagnostic;
    bit<8> detect_multiplier;
    bit<32> my_discriminator;
    bit<32> your_discriminator;
    bit<7> pad;
}

// A report to send on a path, by the clock in its slot or because of a packet. Never on the wire.
header notice_h {
    bit<1> is_wanted;
    bit<1> over_icmpv6;
    PathReport report;
    // By which the path leaves
    port_t port;
    core_path_t path_cell;
    path_id_t path_id;
    ipv6_addr_t ingress_pe;
    // Repeat and refresh interval of its reports; how long after the last packet in a congested queue it is
    // relieved; the change of its load that is reported at once
    microseconds_t interval;
    microseconds_t time;
    microseconds_t relief;
    bit<16> change;
    // Of the queue
    bit<8> level;
    bit<32> depth;
    // Of the link, and of the whole node: permille
    bit<16> utilization;
    bit<16> load;
    bit<6> pad;
}

#endif
