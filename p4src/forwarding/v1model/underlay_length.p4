#ifndef FCN_UNDERLAY_LENGTH_P4
#define FCN_UNDERLAY_LENGTH_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/metadata.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"

// UnderlayLength: drops an underlay packet longer than its frame; a shorter one is followed by padding.
// Reads:  payload length; octets of the frame behind the Ethernet header and VLAN tag.
// Writes: meta.drop_reason.
// When:   every underlay packet from the wire, on targets that know the frame's length in ingress.
control UnderlayLength(in ipv6_h outer_ipv6, in bit<32> ip_octets, inout base_meta_t meta) {
    apply {
        if ((bit<32>)outer_ipv6.payload_len + (bit<32>)IPV6_LENGTH > ip_octets) {
            meta.drop_reason = DropReason.BAD_LENGTH;
        }
    }
}

#endif
