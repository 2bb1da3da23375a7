// The thin layer of what differs between architectures: one name, one body per target.
#ifndef FCN_V1MODEL_EXTERNS_P4
#define FCN_V1MODEL_EXTERNS_P4

#include <core.p4>
#include <v1model.p4>

#define DIRECT_COUNTER(name) direct_counter(CounterType.packets_and_bytes) name;
#define COUNT_DIRECT(name)
#define OF_IPV6(action) action
#define USE_DIRECT_COUNTER(name) counters = name;
#define PLACE_AT(number)
#define USE_IDLE_TIMEOUT support_timeout = true;

// Table sizes of the target
const int FLOW_TABLE_SIZE = 16384;
const int ROUTE_TABLE_SIZE = 8192;
const int QUEUE_LEVEL_TABLE_SIZE = 4096;

// Ports of the target that are no interface.
const bit<9> CPU_PORT = 510;
const bit<9> RECIRC_PORT = 509;

// The clone session that carries packets into a second pass; the controller points it at RECIRC_PORT.
enum bit<32> CloneSession {
    RECIRC = 1
}

// standard_metadata.instance_type of simple_switch
const bit<32> INSTANCE_EGRESS_CLONE = 2;

#endif
