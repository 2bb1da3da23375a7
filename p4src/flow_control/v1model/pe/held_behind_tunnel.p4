#ifndef FCN_FLOW_CONTROL_PE_HELD_BEHIND_TUNNEL_P4
#define FCN_FLOW_CONTROL_PE_HELD_BEHIND_TUNNEL_P4

#include "../../../base/v1model/pe.p4"

// HeldBehindTunnel: what HoldTunnelEnd remembered.
// Writes: meta.traffic, meta.is_named.
// When:   in egress, a packet whose tunnel ended here.
control HeldBehindTunnel(in held_name_h name, inout flow_control_meta_t meta) {
    apply {
        meta.is_named = true;
        meta.traffic.ip_version = name.ip_version;
        meta.traffic.label = name.label;
        meta.traffic.protocol = name.protocol;
        meta.traffic.src = name.src;
        meta.traffic.dst = name.dst;
        meta.traffic.src_port = name.src_port;
        meta.traffic.dst_port = name.dst_port;
        meta.traffic.priority = name.priority;
    }
}

#endif
