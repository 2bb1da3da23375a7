// Declarations that differ between architectures: the same names in the externs.p4 of each target.
#ifndef FCN_V1MODEL_EXTERNS_P4
#define FCN_V1MODEL_EXTERNS_P4

#include <core.p4>
// The first version with types for the index of counters and registers
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

#define DIRECT_COUNTER(name) direct_counter(CounterType.packets_and_bytes) name;
#define COUNT_DIRECT(name)
#define USE_DIRECT_COUNTER(name) counters = name;
#define USE_IDLE_TIMEOUT support_timeout = true;
// Metadata that BMv2 does not clear for every packet, as it does a struct's: no field is read before all are written.
#define UNCLEARED_STRUCT header
// Notifications for a PE that can name a flow by its label
#define NAMES_A_FLOW(kind) ((kind) == NotificationKind.FAST_CNP || (kind) == NotificationKind.FANTEL)
// Placement of tables in stages, for chips only
#define PLACED(table)

// A table with a selector has no default action on BMv2.
#define SELECTOR(path, instance, members) \
    @name(path) action_selector(HashAlgorithm.crc16, members, 32w16) instance;
#define SELECTED_BY(name) name
#define DEFAULT_OF_SELECTOR(action)
#define APPLY_SELECTOR(table, miss) if (!table.apply().hit) { miss(); }

#define METER(path, instance, index, cells) \
    @name(path) meter<index>(cells, MeterType.packets) instance;
#define EXECUTE_METER(name, index, color) name.execute_meter<color_t>(index, color);

// When a packet came, and an interval up to then: microseconds
typedef bit<48> instant_t;
typedef bit<32> past_interval_t;
#define SET_INTERVAL(to, now, interval) to = interval;

// RFC 2697/2698 colours as execute_meter returns them
typedef bit<2> color_t;
const color_t GREEN = 0;
const color_t RED = 2;

// A message for this node is parsed on a second pass. A macro: p4c fails where a control with an exit has two instances.
#define PARSE_AGAIN(base, message)                    \
    if (base.parse_more == ParseMore.NONE) {          \
        base.parse_more = message;                    \
        resubmit_preserving_field_list(KEEP_FLAT);    \
        exit;                                         \
    }

// A step of a mode that the program does not have
#define EMPTY_STEP(name)                                                                                \
    control name(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) { \
        apply { }                                                                                       \
    }

// Table sizes of the target
const int FLOW_TABLE_SIZE = 16384;
const int ROUTE_TABLE_SIZE = 8192;
const int QUEUE_LEVEL_TABLE_SIZE = 4096;
const int MARKING_CURVE_TABLE_SIZE = 16384;
const int NOTIFICATION_SID_TABLE_SIZE = 16384;

// Ports of the target that are not front-panel ports
const bit<9> CPU_PORT = 510;
const bit<9> RECIRC_PORT = 509;
// No interface: what waits in its queue comes back into ingress.
const bit<9> PARK_PORT = 508;
// No interface: its queue's rate is that of the clock.
const bit<9> CLOCK_PORT = 507;

// The clone sessions whose copies are recirculated; the controller sets RECIRC_PORT as their replica, once or twice.
enum bit<32> CloneSession {
    RECIRC = 1,
    RECIRC_TWICE = 2
}
// The instances of the replicas of RECIRC_TWICE
const bit<16> COPY_THAT_TELLS = 2;
const bit<16> COPY_THAT_ASKS = 3;

// Microseconds since something that a packet on another pass wrote a moment later, in a circle of 32 bits
const bit<32> A_LITTLE_NEWER = 0xffff0000;

// standard_metadata.instance_type of simple_switch
const bit<32> INSTANCE_INGRESS_CLONE = 1;
const bit<32> INSTANCE_EGRESS_CLONE = 2;
const bit<32> INSTANCE_RECIRCULATED = 4;

#endif
