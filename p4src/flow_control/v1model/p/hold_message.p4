#ifndef FCN_FLOW_CONTROL_P_HOLD_MESSAGE_P4
#define FCN_FLOW_CONTROL_P_HOLD_MESSAGE_P4

#include "../../../base/v1model/p.p4"
#include "../receive_arn.p4"

// HoldMessage: an ARN for this node; its parameters are parsed on a second pass.
// Writes: what ReceiveArn writes.
// When:   a packet that is for this node itself.
control HoldMessage(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    ReceiveArn() receive_arn;

    apply {
        receive_arn.apply(
            hdr.outer_ipv6, hdr.tunnel.udp, hdr.arn, hdr.five_tuple, standard_metadata.parser_error,
            meta.base, meta.flow_control);
    }
}

#endif
