#ifndef FCN_FLOW_CONTROL_PE_HOLD_TUNNEL_END_P4
#define FCN_FLOW_CONTROL_PE_HOLD_TUNNEL_END_P4

#include "../../../base/v1model/pe.p4"
#include "../name_traffic.p4"

// HoldTunnelEnd: the port of a data centre may be congested, where the tunnel is gone.
// Writes: hdr.held_name: what the neighbour that the packet came from would hold.
// When:   a tunnel ends here, before TunnelDecap.
control HoldTunnelEnd(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && meta.base.notification_kind == NotificationKind.NONE) {
            name_traffic.apply(hdr, meta, meta.base.arrived_dst);
            if (meta.flow_control.is_named) {
                hdr.held_name.setValid();
                hdr.held_name.ip_version = meta.flow_control.traffic.ip_version;
                hdr.held_name.label = meta.flow_control.traffic.label;
                hdr.held_name.protocol = meta.flow_control.traffic.protocol;
                hdr.held_name.src = meta.flow_control.traffic.src;
                hdr.held_name.dst = meta.flow_control.traffic.dst;
                hdr.held_name.src_port = meta.flow_control.traffic.src_port;
                hdr.held_name.dst_port = meta.flow_control.traffic.dst_port;
                hdr.held_name.priority = meta.flow_control.traffic.priority;
            }
        }
    }
}

#endif
