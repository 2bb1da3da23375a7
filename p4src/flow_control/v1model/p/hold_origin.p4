#ifndef FCN_FLOW_CONTROL_P_HOLD_ORIGIN_P4
#define FCN_FLOW_CONTROL_P_HOLD_ORIGIN_P4

#include "../../../base/v1model/p.p4"
#include "../../arn_upstream.p4"
#include "../name_traffic.p4"

// HoldOrigin: the neighbour who can be asked to hold this packet's traffic.
// Writes: meta.flow_control.traffic, is_named, has_upstream; the neighbour's headers.
// When:   in egress, first.
control HoldOrigin(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;
    ArnUpstream() arn_upstream;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && hdr.outer_ipv6.isValid()) {
            name_traffic.apply(hdr, meta, meta.base.arrived_dst);
            arn_upstream.apply(hdr.envelope, meta.flow_control);
        }
    }
}

#endif
