#ifndef FCN_FRAME_LENGTH_P4
#define FCN_FRAME_LENGTH_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"
#include "../../base/pe_headers.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"
#include "underlay_length.p4"

// FrameLength: drops an IP packet longer than its frame, or shorter than its own header (RFC 1812 section
// 5.2.2); a packet shorter than its frame is followed by padding.
// Reads:  first IP header's lengths, octets of the frame (Ethernet header included).
// Writes: meta.drop_reason.
// When:   every packet from the wire, on targets that know the frame's length in ingress.
control FrameLength(in pe_headers_t hdr, in bit<32> frame_octets, inout base_meta_t meta) {
    UnderlayLength() underlay_length;

    action bad_length() {
        meta.drop_reason = DropReason.BAD_LENGTH;
    }

    apply {
        bit<32> ip_octets = frame_octets - (bit<32>)ETHERNET_LENGTH;
        if (hdr.vlan.isValid()) {
            ip_octets = ip_octets - (bit<32>)VLAN_TAG_LENGTH;
        }
        if (hdr.outer_ipv6.isValid()) {
            underlay_length.apply(hdr.outer_ipv6, ip_octets, meta);
        } else if (hdr.ipv4.isValid()) {
            if ((bit<32>)hdr.ipv4.total_len > ip_octets
                    || hdr.ipv4.total_len < 10w0 ++ hdr.ipv4.ihl ++ 2w0) {
                bad_length();
            }
        } else if (hdr.ipv6.isValid()) {
            if ((bit<32>)hdr.ipv6.payload_len + (bit<32>)IPV6_LENGTH > ip_octets) {
                bad_length();
            }
        }
    }
}

// CutFrame: removes the octets behind a CNP: the payload of the packet it was made from.
// Reads:  VLAN tag, outermost IP header.
// Writes: the length of the frame.
// When:   a CNP leaves the ingress.
control CutFrame(in pe_headers_t hdr) {
    apply {
        bit<16> octets = ETHERNET_LENGTH;
        if (hdr.vlan.isValid()) {
            octets = octets + VLAN_TAG_LENGTH;
        }
        if (hdr.outer_ipv6.isValid()) {
            octets = octets + IPV6_LENGTH + hdr.outer_ipv6.payload_len;
        } else if (hdr.ipv4.isValid()) {
            octets = octets + hdr.ipv4.total_len;
        } else {
            octets = octets + IPV6_LENGTH + hdr.ipv6.payload_len;
        }
        truncate((bit<32>)octets);
    }
}

#endif
