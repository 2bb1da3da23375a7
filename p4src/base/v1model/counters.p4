// Counters of every program, at the top so that any control can count.
#ifndef FCN_COUNTERS_P4
#define FCN_COUNTERS_P4

#include "externs.p4"
#include "../sizes.p4"
#include "../types.p4"

@name(".drops")
counter<DropReason>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) drops;
@name(".punts")
counter<PuntReason>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) punts;
@name(".events")
counter<Event>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) events;
@name(".notifications_received")
counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_received;
@name(".notifications_triggered")
counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_triggered;
@name(".notifications_sent")
counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) notifications_sent;
@name(".flow_interval_suppressed")
counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) flow_interval_suppressed;
@name(".node_rate_suppressed")
counter<NotificationKind>(KIND_COUNTER_SIZE, CounterType.packets_and_bytes) node_rate_suppressed;
@name(".ecn_marked")
counter<Ecn>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) ecn_marked;
@name(".port_rx")
counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_rx;
@name(".port_tx")
counter<port_t>(PORT_COUNTER_SIZE, CounterType.packets_and_bytes) port_tx;
@name(".vrf_refused")
counter<vrf_cell_t>(VRF_CELLS, CounterType.packets_and_bytes) vrf_refused;

#endif
