// What a packet carries between the passes and pipes of the chip; never on the wire.
#ifndef FCN_PASS_HEADERS_P4
#define FCN_PASS_HEADERS_P4

#include "../../flow_control/flow_control_types.p4"

// The first octet of everything that enters the egress: what the ingress knows of the packet.
enum bit<8> PassType {
    TRAFFIC = 1,
    // PE: ECN-capable, labelled by this node; congestion here concerns its sender
    LABELLED = 2,
    // neither marked nor cause of another
    NOTIFICATION = 3,
    // a copy made in egress
    MIRROR = 4
}

// Ingress to egress; v1model carries all metadata over by itself.
header bridge_h {
    PassType pass;
}

// On the egress copy of a packet that met a congested queue, up to the ingress of its second pass.
header copy_h {
    PassType pass;
    NotificationKind kind;
    bit<5> pad0;
    congestion_level_t level;
    bit<4> pad1;
    flow_label_t label;
}

// Octets of the header behind the bridge
#if HAS_FLOW_CONTROL
#define ARRIVAL_LENGTH 23
#else
#define ARRIVAL_LENGTH 0
#endif

#if HAS_FLOW_CONTROL
// Behind either of them: how the packet came, and what its copy tells the neighbour
header arrival_h {
    ArnType arn_type;
    bit<7> pad;
    port_t port;
    ipv6_addr_t dst;
    // UDP ports behind the underlay's header, 0 when it has none
    bit<32> ports;
}

header arn_copy_h {
    PassType pass;
    NotificationKind kind;
    bit<5> pad0;
    congestion_level_t level;
    bit<4> pad1;
    flow_label_t label;
    ArnType arn_type;
    bit<7> pad2;
    port_t port;
    ipv6_addr_t dst;
    bit<32> ports;
}
#endif

#endif
