#ifndef FCN_FLOW_CONTROL_PE_HOLD_MESSAGE_P4
#define FCN_FLOW_CONTROL_PE_HOLD_MESSAGE_P4

#include "../../../base/v1model/pe.p4"
#include "../receive_arn.p4"

// HoldMessage: an ARN for this node; its parameters are parsed on a second pass.
// Writes: what ReceiveArn writes.
// When:   a packet from a core port that is for this node itself.
control HoldMessage(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    ReceiveArn() receive_arn;

    apply {
        receive_arn.apply(
            hdr.outer_ipv6, hdr.udp, hdr.arn, hdr.five_tuple, standard_metadata.parser_error,
            meta.base, meta.flow_control);
    }
}

#endif
