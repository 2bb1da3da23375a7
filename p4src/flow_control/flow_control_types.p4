// Types of precise flow control (SRF-5 to SRF-8): what is held, and what the controls tell each other about it.
#ifndef FCN_FLOW_CONTROL_TYPES_P4
#define FCN_FLOW_CONTROL_TYPES_P4

#include "../base/metadata.p4"

// What neighbours stop for each other (SRF-6)
enum bit<2> FlowControl {
    OFF = 0,
    // The five-tuple of the outer header
    SERVICE = 1,
    // The five-tuple of the inner header, of UDP
    FLOW = 2,
    PRIORITY = 3
}

// Type of an ARN (SRF-5)
enum bit<8> ArnType {
    NONE = 0,
    DETECTED = 1,
    ELIMINATED = 2
}

// Para-Type of an ARN: bit 0 five-tuple, 1 path ID, 2 priority, 3 time; bit 0 is the least significant.
const bit<8> ARN_FIVE_TUPLE = 0x01;
const bit<8> ARN_PATH = 0x02;
const bit<8> ARN_PRIORITY = 0x04;
const bit<8> ARN_TIME = 0x08;
const bit<8> ARN_FIVE_TUPLE_AND_TIME = ARN_FIVE_TUPLE | ARN_TIME;
const bit<8> ARN_PRIORITY_AND_TIME = ARN_PRIORITY | ARN_TIME;
const bit<8> ARN_HOP_LIMIT = 255;
// Of IEEE 802.1Q
const bit<32> MAX_PRIORITY = 7;

// What Hold is asked
enum bit<3> HoldRequest {
    NONE = 0,
    // A packet is about to leave.
    PASS = 1,
    // A parked packet has come round.
    TURN = 2,
    // A neighbour says: hold, or go on.
    BEGIN = 3,
    END = 4
}

enum bit<3> HoldVerdict {
    // The packet leaves, or the request is done.
    GO = 0,
    // The packet waits.
    WAIT = 1,
    // The node's budget is used up.
    NO_ROOM = 2,
    // The neighbour holds enough already.
    LIMIT = 3,
    // The cell is another hold's.
    NO_CELL = 4
}

// What Hold did; the index of counter `holds`.
enum bit<8> HoldEvent {
    NONE = 0,
    BEGUN = 1,
    RENEWED = 2,
    ENDED_EARLY = 3,
    // An end of what is not held
    UNKNOWN = 4,
    PARKED = 5,
    LEFT = 6,
    // A packet left without those in front of it, which the node has lost.
    SKIPPED = 7
}

// How an ingress PE asks a data centre to send less (SRF-8)
enum bit<2> Relief {
    NONE = 0,
    PAUSE = 1,
    CNP = 2
}

// What a node holds, of its budget; nothing was held yet where a register says 0.
enum bit<2> BudgetState {
    RELIEVED = 0,
    BETWEEN = 1,
    CONGESTED = 2
}

// What a queue's depth says
enum bit<2> QueueState {
    BETWEEN = 0,
    CONGESTED = 1,
    RELIEVED = 2
}

typedef bit<10> hold_cell_t;
const int HOLD_CELLS = 1024;
const int HOLD_LEVEL_TABLE_SIZE = 1024;

// What a hold is about: of a service or flow all but the priority, else the priority alone; an IPv4 address is in
// the low bits. A service has a label of 0, and ports of 0 where its packets have none; the label of a flow is that of
// the customer (CustomerLabel).
UNCLEARED_STRUCT held_traffic_t {
    bit<4> ip_version;
    flow_label_t label;
    bit<8> protocol;
    ipv6_addr_t src;
    ipv6_addr_t dst;
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> priority;
}
const held_traffic_t NO_TRAFFIC = { 0, 0, 0, 0, 0, 0, 0, 0 };

struct flow_control_meta_t {
#if HAS_FLOW_CONTROL
    // Set by FlowControlMode
    @field_list(KEEP_COPY)
    FlowControl mode;
    microseconds_t refresh;

    // A packet that Hold made wait: where it goes when it is its turn, how it came
    @field_list(KEEP_PARKED)
    hold_cell_t cell;
    @field_list(KEEP_PARKED)
    bit<32> ticket;
    @field_list(KEEP_PARKED)
    bit<16> octets;
    @field_list(KEEP_PARKED)
    port_t egress_port;
    @field_list(KEEP_PARKED, KEEP_COPY)
    port_t upstream_port;

    // Of the packet, or what an ARN is about
    held_traffic_t traffic;
    // Whether `traffic` says what the packet belongs to: what a tunnel hides has no name in mode flow.
    bool is_named;
    // IEEE 802.1Q priority of a packet from a DC port
    @field_list(KEEP_PARKED, KEEP_COPY)
    bit<3> dc_priority;
    // By which port the packet would leave, or the neighbour who asks is reached
    port_t hold_port;
    HoldRequest request;
    HoldVerdict verdict;
    HoldEvent event;
    microseconds_t time;
    // A PAUSE frame of a data centre
    bool is_pause;

    // The ARN to send
    @field_list(KEEP_COPY)
    ArnType arn_type;
    bool has_upstream;
    // Whether the node holds more than its mark, or so little again that its upstream neighbours may send
    BudgetState budget;
    // What is done instead where the upstream neighbour is a data centre
    Relief relief;
    QueueState queue;
#endif
}

#endif
