// Types of links whose far end is watched (FAN-4). The controller reads constants and enumerations from here.
#ifndef FCN_LINK_TYPES_P4
#define FCN_LINK_TYPES_P4

#include "../paths/path_types.p4"

// IEEE 802, local experimental EtherType 1: a frame that never leaves the node
const bit<16> CLOCK_ETHER_TYPE = 0x88b5;

// A place in the round of the clock
typedef bit<12> clock_slot_t;
const int CLOCK_SLOTS = 4096;

// Unique in the domain; as in FANTEL messages
typedef bit<32> path_id_t;
// A path that leaves this node by one port, among all of them
typedef bit<12> core_path_t;
const int CORE_PATH_CELLS = 4096;
// core_path_t ++ 0 for failure, 1 for congestion
typedef bit<13> core_path_report_t;
const int CORE_PATH_REPORT_CELLS = 8192;
const int ALTERNATE_TABLE_SIZE = 4096;

// What is known of a link, by its port; the session of RFC 5880 section 6.8.6, where UNKNOWN, too, is Down: a link that
// was never up is not known to have failed until it has been silent for long.
enum bit<3> LinkState {
    UNKNOWN = 0,
    STARTING = 1,
    UP = 2,
    // Silent, or its far end does not hear this node
    DOWN = 3,
    // Still down: the far end is heard again, but does not yet say that it hears this node.
    RISING = 4
}

// RFC 5880 section 4.1
enum bit<2> BfdState {
    ADMIN_DOWN = 0,
    DOWN = 1,
    INIT = 2,
    UP = 3
}

// RFC 5880 section 4.1: why a session is not up
enum bit<5> BfdDiagnostic {
    NONE = 0,
    DETECTION_TIME_EXPIRED = 1,
    NEIGHBOR_SIGNALED_DOWN = 3
}

// A report on a path; in the order of the types of FANTEL messages, which begin with 1.
enum bit<3> PathReport {
    FAILED = 0,
    WELL = 1,
    CONGESTED = 2,
    RELIEVED = 3,
    LOAD = 4,
    // From the controller: which messages of a speaker are older than others
    FORGET = 5
}

// What the clock does in a slot
enum bit<3> ClockTask {
    NONE = 0,
    LINK = 1,
    // A path: the link it leaves by
    PATH = 2,
    // A path: the queue it leaves by
    PATH_QUEUE = 3,
    // A path: how much of the link it leaves by is in use
    PATH_LOAD = 4
}

// Utilization of a link, load of a node: 0 to 1000
typedef bit<10> permille_t;

// Cause in a FANTEL message
enum bit<8> FailureCause {
    NEIGHBOR_SILENT = 2,
    // The far end has taken the link out of service (BFD: AdminDown), or says that its end is down.
    ADMINISTRATIVE = 3,
    NEIGHBOR_DOWN = 4
}

#endif
