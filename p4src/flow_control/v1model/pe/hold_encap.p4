#ifndef FCN_FLOW_CONTROL_PE_HOLD_ENCAP_P4
#define FCN_FLOW_CONTROL_PE_HOLD_ENCAP_P4

#include "../../../base/v1model/pe.p4"

// HoldEncap: in mode priority the priority of the data centre is that of the tunnel (SRF-6).
// Writes: DSCP of the underlay header.
// When:   behind TunnelEncap.
control HoldEncap(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.flow_control.mode == FlowControl.PRIORITY) {
            hdr.outer_ipv6.dscp = meta.flow_control.dc_priority ++ 3w0;
        }
    }
}

#endif
