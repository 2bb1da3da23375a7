#ifndef FCN_PORT_ROLE_P4
#define FCN_PORT_ROLE_P4

#include "../base/metadata.p4"
#include "../base/sizes.p4"

// PortRole: who is on the other side of the port a packet came from.
// Reads:  meta.ingress_port, meta.vlan_id (0 when untagged).
// Writes: meta.role, meta.vrf; meta.drop_reason when nothing is configured.
// When:   first, for every packet from the wire.
control PortRole(inout base_meta_t meta) {
    DIRECT_COUNTER(port_role_counter)

    action set_dc_port(vrf_t vrf) {
        COUNT_DIRECT(port_role_counter)
        meta.role = Role.DC;
        meta.vrf = vrf;
    }
    action set_core_port() {
        COUNT_DIRECT(port_role_counter)
        meta.role = Role.CORE;
    }
    action reject_port() {
        COUNT_DIRECT(port_role_counter)
        meta.drop_reason = DropReason.UNKNOWN_PORT;
    }

    PLACED(port_role) @name(".port_role")
    table port_role {
        key = {
            meta.ingress_port: exact @name("ingress_port");
            meta.vlan_id: exact @name("vlan_id");
        }
        actions = {
            @tableonly set_dc_port;
            @tableonly set_core_port;
            @defaultonly reject_port;
        }
        const default_action = reject_port;
        size = PORT_TABLE_SIZE;
        USE_DIRECT_COUNTER(port_role_counter)
    }

    apply {
        port_role.apply();
    }
}

#endif
