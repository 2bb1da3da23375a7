// What a packet carries between the passes and pipes of the chip; never on the wire.
#ifndef FCN_PASS_HEADERS_P4
#define FCN_PASS_HEADERS_P4

#include "../../fantel/links/link_types.p4"
#include "../../flow_control/flow_control_types.p4"

// The first octet of everything that enters the egress: what the ingress knows of the packet.
enum bit<8> PassType {
    TRAFFIC = 1,
    // PE: ECN-capable, labelled by this node; congestion here concerns its sender
    LABELLED = 2,
    // neither marked nor cause of another
    NOTIFICATION = 3,
    // a copy made in egress, of a packet or of the clock's
    MIRROR = 4,
    MIRROR_OF_CLOCK = 5,
    // of a P: the clock packet, which never is behind another octet than 0 on the wire
    CLOCK = 6
}

// Ingress to egress; v1model carries all metadata over by itself.
header bridge_h {
    PassType pass;
}

// On the egress copy of a packet that met a congested queue, up to the ingress of its second pass. At a P, which has the
// whole IPv6 header then, `label` is the depth of the queue.
#define COPY_FIELDS \
    PassType pass; NotificationKind kind; bit<5> pad0; congestion_level_t level; bit<4> pad1; flow_label_t label;
header copy_h {
    COPY_FIELDS
}

// Octets of the header behind the bridge. Tofino 2 cuts copies at a multiple of four, which needs padding.
#if HAS_FLOW_CONTROL && __TARGET_TOFINO__ == 2
#define ARRIVAL_LENGTH 24
#define PORT_PAD 15
#elif HAS_FLOW_CONTROL
#define ARRIVAL_LENGTH 23
#define PORT_PAD 7
#elif HAS_FANTEL && __TARGET_TOFINO__ == 2
#define ARRIVAL_LENGTH 28
#define LINK_PAD bit<16> pad;
#define LINK_PAD_OF(arrival) , arrival.pad
#elif HAS_FANTEL
#define ARRIVAL_LENGTH 26
#define LINK_PAD
#define LINK_PAD_OF(arrival)
#else
#define ARRIVAL_LENGTH 0
#endif
#define HAS_ARRIVAL (HAS_FLOW_CONTROL || HAS_FANTEL)

#if HAS_ARRIVAL
// Behind either of them: what the copy tells of (an ARN of the port by which the packet came, a FANTEL message of the one by
// which it leaves), the destination it came with (for the clock, the ingress PE), and the UDP ports behind the underlay's
// header, 0 when it has none.
#if HAS_FLOW_CONTROL
#define SUBJECT ArnType arn_type; bit<PORT_PAD> pad; port_t port;
#define SUBJECT_OF(arrival) arrival.arn_type, arrival.pad, arrival.port
const NotificationKind TOLD_KIND = NotificationKind.ARN;
#else
#define SUBJECT path_id_t path_id; bit<16> link; LINK_PAD
#define SUBJECT_OF(arrival) arrival.path_id, arrival.link LINK_PAD_OF(arrival)
const NotificationKind TOLD_KIND = NotificationKind.FANTEL;
#endif
#define ARRIVAL_FIELDS SUBJECT ipv6_addr_t dst; bit<32> ports;
header arrival_h {
    ARRIVAL_FIELDS
}

header told_copy_h {
    COPY_FIELDS
    ARRIVAL_FIELDS
}
#endif

#if HAS_FANTEL
// The same on a copy, in parts that stay in the message: of its five-tuple; why a link failed is in the place of the ports.
header subject_h {
    SUBJECT
}
header arrival_dst_h {
    ipv6_addr_t dst;
}
header arrival_ports_h {
    bit<32> ports;
}
header tuple_src_h {
    ipv6_addr_t src;
}

// What is said in a slot
enum bit<8> ClockSays {
    NOTHING = 0,
    // Of a path, whether it has failed
    OF_PATH = 1,
    // To the far end of a link
    HELLO = 2
}
// The clock packet behind its Ethernet header (clock_h). From `said`, for the egress: what the ingress found in a slot.
// The cell is that of the path; of a hello, its slot.
header clock_pass_h {
    bit<32> token;
    bit<7> pad;
    bit<1> is_last;
    // The slot that is next; the first round begins the watch of links.
    bit<16> slot;
    bit<8> has_begun;
    ClockSays said;
    bit<5> pad_of_report;
    PathReport report;
    bit<5> pad_of_task;
    ClockTask task;
    bit<7> pad_of_port;
    port_t port;
    bit<16> cell;
    microseconds_t refresh;
    microseconds_t relief;
}
#endif

#endif
