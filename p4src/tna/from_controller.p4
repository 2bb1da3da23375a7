#ifndef FCN_TNA_FROM_CONTROLLER_P4
#define FCN_TNA_FROM_CONTROLLER_P4

#include "../base/headers.p4"
#include "bridge.p4"

// FromController: a packet of the controller leaves by the port it names.
// Reads:  packet_out header.
// Writes: port; the packet_out header ends; what Bridge writes.
// When:   a packet from the CPU port.
control FromController(
        inout packet_out_h order, inout bridge_h bridge, inout copy_h copy, inout PortId_t port) {
    Bridge(PassType.TRAFFIC) bridge_traffic;

    apply {
        port = order.egress_port;
        order.setInvalid();
        bridge_traffic.apply(bridge, copy);
    }
}

#endif
