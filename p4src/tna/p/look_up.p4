#ifndef FCN_TNA_P_LOOK_UP_P4
#define FCN_TNA_P_LOOK_UP_P4

#include "../../fast_cnp/notification_port.p4"
#include "../../forwarding/endpoint.p4"
#include "../p_metadata.p4"

// LookUp: what the tables and the parser know of a packet. What it means is decided behind.
// Reads:  md.udp_dst_port; underlay destination; the parser's error.
// Writes: what its controls write; md.meta.base.is_malformed.
// When:   every packet but the controller's and the clock's.
control LookUp(
        in p_pass_headers_t hdr, inout tna_p_meta_t md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md) {
    NotificationPort() notification_port;
    Endpoint() endpoint;

    apply {
        notification_port.apply(md.udp_dst_port, md.meta.base);
        endpoint.apply(hdr.p.outer_ipv6.dst, md.meta.base);
        if (ig_prsr_md.parser_err != 0) {
            md.meta.base.is_malformed = true;
        }
    }
}

#endif
