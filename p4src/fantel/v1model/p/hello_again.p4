#ifndef FCN_FANTEL_P_HELLO_AGAIN_P4
#define FCN_FANTEL_P_HELLO_AGAIN_P4

#include "../../../base/v1model/p.p4"

// HelloAgain: a hello made here leaves by the port it is for.
// Writes: meta.base.is_settled and egress_port.
// When:   a later pass.
control HelloAgain(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.copy_kind == NotificationKind.HELLO) {
            meta.base.is_settled = true;
            meta.base.egress_port = meta.fantel.hello_port;
        }
    }
}

#endif
