#ifndef FCN_FRAME_LENGTH_P4
#define FCN_FRAME_LENGTH_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"

// CutFrame: removes the octets behind a CNP: the payload of the packet it was made from.
// Reads:  VLAN tag, outermost IP header.
// Writes: the length of the frame.
// When:   a CNP leaves the ingress.
control CutFrame(in vlan_h vlan, in ipv6_h outer_ipv6, in ipv4_h ipv4, in ipv6_h ipv6) {
    apply {
        bit<16> octets = ETHERNET_LENGTH;
        if (vlan.isValid()) {
            octets = octets + VLAN_TAG_LENGTH;
        }
        if (outer_ipv6.isValid()) {
            octets = octets + IPV6_LENGTH + outer_ipv6.payload_len;
        } else if (ipv4.isValid()) {
            octets = octets + ipv4.total_len;
        } else {
            octets = octets + IPV6_LENGTH + ipv6.payload_len;
        }
        truncate((bit<32>)octets);
    }
}

#endif
