// The thin layer of what differs between architectures: one name, one body per target.
#ifndef FCN_TNA_EXTERNS_P4
#define FCN_TNA_EXTERNS_P4

#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

#include "stages.p4"

#define UNCLEARED_STRUCT struct

#define DIRECT_COUNTER(name) DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) name;
#define COUNT_DIRECT(name) name.count();
#define USE_DIRECT_COUNTER(name) counters = name;
#define USE_IDLE_TIMEOUT idle_timeout = true;

// ECMP groups: a selector of Tofino is made of groups, of BMv2 of members only.
const bit<32> SELECTOR_GROUP_SIZE = 16;
const bit<32> SELECTOR_GROUPS = 256;
// A parameter called `name` would take the place of the annotation @name.
#define SELECTOR(path, instance, members) \
    Hash<bit<16>>(HashAlgorithm_t.CRC16) instance##_hash; \
    @name(path) ActionProfile(members) instance; \
    ActionSelector( \
        instance, instance##_hash, SelectorMode_t.FAIR, SELECTOR_GROUP_SIZE, SELECTOR_GROUPS) instance##_selector;
#define SELECTED_BY(name) name##_selector
#define DEFAULT_OF_SELECTOR(action) const default_action = action;
#define APPLY_SELECTOR(table, miss) table.apply();

// Notifications for a PE that can name a flow by its label
#define NAMES_A_FLOW(kind) ((kind) == NotificationKind.FAST_CNP)

#define METER(path, instance, index, cells) \
    @name(path) Meter<index>(cells, MeterType_t.PACKETS) instance;
#define EXECUTE_METER(name, index, color) color = name.execute(index);

typedef bit<8> color_t;
const color_t GREEN = (bit<8>)MeterColor_t.GREEN;

// Table sizes of the target
const int FLOW_TABLE_SIZE = 16384;
const int ROUTE_TABLE_SIZE = 4096;
const int QUEUE_LEVEL_TABLE_SIZE = 2048;
const int MARKING_CURVE_TABLE_SIZE = 2048;

// Ports of the target that are no interface, of pipe 0: the port of the CPU (Tofino 1: by Ethernet, not PCIe) and the
// recirculation port.
#if __TARGET_TOFINO__ == 2
const bit<9> CPU_PORT = 0;
const bit<9> RECIRC_PORT = 6;
#else
const bit<9> CPU_PORT = 64;
const bit<9> RECIRC_PORT = 68;
#endif

// The mirror session that carries copies into a second pass; the driver points it at RECIRC_PORT and
// cuts the copy to the octets docs/tofino.md names.
enum bit<10> MirrorSession {
    RECIRC = 1
}
const MirrorType_t MIRROR_COPY = 1;

const DigestType_t DIGEST_NEW_FLOW_IPV4 = 1;
const DigestType_t DIGEST_NEW_FLOW_IPV6 = 2;
const DigestType_t DIGEST_CM_IPV4 = 3;
const DigestType_t DIGEST_CM_IPV6 = 4;
const DigestType_t DIGEST_NEIGHBOR_IPV4 = 5;
const DigestType_t DIGEST_NEIGHBOR_IPV6 = 6;

// Time in ticks of 256 ns, 32 bits: whole octets of the nanosecond clock, which need no shift. Counted down, so that the start of
// an interval is a sum: an action can add to a field what comes from its entry, but not take it away.
#define TICKS(tstamp) ~(tstamp)[39:8]
typedef bit<32> instant_t;
// An interval that ends now. Where the clock has not counted that much since its start or wrap, the sum and the one that stops at
// the greatest number differ.
struct past_interval_t {
    instant_t start;
    instant_t start_or_wrap;
}
#define SET_INTERVAL(to, now, interval) \
    to.start = (now) + (interval);      \
    to.start_or_wrap = (now) |+| (interval);
#define BEFORE_WRAP(interval) interval.start != interval.start_or_wrap
// The time of what has not happened: neither now nor an interval ago when the clock starts. Nine minutes later, it is
// taken for a time, once for each interval.
const instant_t NEVER = 0x7fffffff;

#endif
