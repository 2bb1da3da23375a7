#ifndef FCN_FLOW_CONTROL_PE_HOLD_LOOKUP_P4
#define FCN_FLOW_CONTROL_PE_HOLD_LOOKUP_P4

#include "../../../base/v1model/pe.p4"
#include "../notification_sid.p4"

// HoldLookup
// Writes: meta.base.arrived_dst; meta.base.notification_kind of what goes to another PE's END.CON SID.
// When:   a packet of the underlay, before a segment of its ends here.
control HoldLookup(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NotificationSid() notification_sid;

    apply {
        if (meta.flow_control.mode != FlowControl.OFF) {
            meta.base.arrived_dst = hdr.outer_ipv6.dst;
            notification_sid.apply(hdr.outer_ipv6.dst, meta.base);
        }
    }
}

#endif
