#ifndef FCN_FLOW_CONTROL_PE_HOLD_ORIGIN_P4
#define FCN_FLOW_CONTROL_PE_HOLD_ORIGIN_P4

#include "../../../base/v1model/pe.p4"
#include "../../arn_upstream.p4"
#include "../../dc_relief.p4"
#include "../../held_priority.p4"
#include "../name_traffic.p4"
#include "held_behind_tunnel.p4"

// HoldOrigin: who can be asked to hold this packet's traffic, a neighbour or a data centre (SRF-7, SRF-8).
// Writes: meta.flow_control.traffic, is_named, has_upstream, relief, refresh; the neighbour's headers.
// When:   in egress, first.
control HoldOrigin(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;
    HeldBehindTunnel() held_behind_tunnel;
    ArnUpstream() arn_upstream;
    DcRelief() dc_relief;
    HeldPriority() held_priority;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF && (hdr.outer_ipv6.isValid() || hdr.held_name.isValid())) {
            if (hdr.held_name.isValid()) {
                held_behind_tunnel.apply(hdr.held_name, meta.flow_control);
            } else {
                name_traffic.apply(hdr, meta, meta.base.arrived_dst);
            }
            arn_upstream.apply(hdr.envelope, meta.flow_control);
            // What waits, or waited, for one data centre says nothing of the queue that another is paused for.
            if (!hdr.held_name.isValid() && !meta.flow_control.has_upstream && meta.base.parse_more != WAITED_FOR_DC
                    && standard_metadata.instance_type != INSTANCE_INGRESS_CLONE
                    && standard_metadata.instance_type != INSTANCE_EGRESS_CLONE) {
                dc_relief.apply(meta.flow_control);
                if (meta.flow_control.relief == Relief.PAUSE) {
                    held_priority.apply(meta.flow_control);
                }
            }
        }
    }
}

#endif
