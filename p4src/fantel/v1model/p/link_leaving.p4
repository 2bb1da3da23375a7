#ifndef FCN_FANTEL_P_LINK_LEAVING_P4
#define FCN_FANTEL_P_LINK_LEAVING_P4

#include "../../../base/v1model/p.p4"
#include "../port_sent.p4"

// LinkLeaving
// Writes: port_sent.
// When:   a packet leaves by a wire, behind QueueLevel.
control LinkLeaving(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    PortSent() sent;

    apply {
        sent.apply(
            standard_metadata, meta.base.level,
            (bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH + hdr.outer_ipv6.payload_len));
    }
}

#endif
