#ifndef FCN_FLOW_CONTROL_PE_HOLD_ARRIVAL_P4
#define FCN_FLOW_CONTROL_PE_HOLD_ARRIVAL_P4

#include "../../../base/v1model/pe.p4"
#include "../receive_pause.p4"

// HoldArrival
// Reads:  Ethernet header, VLAN tag, DSCP of a customer's packet.
// Writes: meta.flow_control.upstream_port; dc_priority: as in PAUSE frames, of the tag, or the class selector of the DSCP;
//         is_pause: the packet is a PAUSE frame and ends here.
// When:   a packet from the wire, before its VLAN tag is removed.
control HoldArrival(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (IS_PAUSE(hdr.ethernet)) {
            meta.flow_control.is_pause = true;
            meta.base.is_settled = true;
            meta.base.is_done = true;
        }
        if (meta.flow_control.mode != FlowControl.OFF) {
            meta.flow_control.upstream_port = meta.base.ingress_port;
            if (hdr.vlan.isValid()) {
                meta.flow_control.dc_priority = hdr.vlan.pcp;
            } else if (hdr.ipv4.isValid()) {
                meta.flow_control.dc_priority = hdr.ipv4.dscp[5:3];
            } else if (hdr.ipv6.isValid()) {
                meta.flow_control.dc_priority = hdr.ipv6.dscp[5:3];
            }
        }
    }
}

#endif
