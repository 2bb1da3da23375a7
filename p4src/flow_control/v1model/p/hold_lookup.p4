#ifndef FCN_FLOW_CONTROL_P_HOLD_LOOKUP_P4
#define FCN_FLOW_CONTROL_P_HOLD_LOOKUP_P4

#include "../../../base/v1model/p.p4"
#include "../notification_sid.p4"

// HoldLookup
// Writes: meta.flow_control.upstream_port; meta.base.arrived_dst; meta.base.notification_kind of what goes to a PE's END.CON
//         SID.
// When:   a packet from the wire, before a segment of its ends here.
control HoldLookup(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    NotificationSid() notification_sid;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF) {
            meta.flow_control.upstream_port = meta.base.ingress_port;
            meta.base.arrived_dst = hdr.outer_ipv6.dst;
            notification_sid.apply(hdr.outer_ipv6.dst, meta.base);
        }
    }
}

#endif
