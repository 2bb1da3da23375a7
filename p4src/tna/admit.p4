#ifndef FCN_TNA_ADMIT_P4
#define FCN_TNA_ADMIT_P4

#include "../base/metadata.p4"
#include "../base/sizes.p4"
#include "../forwarding/port_mac.p4"
#include "../forwarding/port_role.p4"

// Admit: whose port a packet came from, and whether it is for this node.
// Reads:  meta.ingress_port; Ethernet header.
// Writes: meta.role, is_addressed; counter port_rx.
// When:   every packet but the controller's; nothing is asked of a copy.
control Admit(in ethernet_h ethernet, inout base_meta_t meta) {
    @name(".port_rx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_rx;

    PortRole() port_role;
    PortMac() port_mac;

    apply {
        if (meta.copy_kind == NotificationKind.NONE) {
            port_role.apply(meta);
            port_mac.apply(ethernet, meta);
        }
        if (meta.copy_kind == NotificationKind.NONE) {
            port_rx.count(meta.ingress_port);
        }
    }
}

#endif
