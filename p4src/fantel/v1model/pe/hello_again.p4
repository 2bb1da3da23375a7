#ifndef FCN_FANTEL_PE_HELLO_AGAIN_P4
#define FCN_FANTEL_PE_HELLO_AGAIN_P4

#include "../../../base/v1model/pe.p4"

// HelloAgain: a hello made here leaves by the port it is for.
// Writes: meta.base.is_settled and egress_port; the length of the frame.
// When:   a later pass.
control HelloAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.base.is_settled = true;
            meta.base.egress_port = meta.fantel.hello_port;
            truncate((bit<32>)(hdr.ipv6.payload_len + IPV6_LENGTH + ETHERNET_LENGTH));
        }
    }
}

#endif
