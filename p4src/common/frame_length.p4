#ifndef FCN_FRAME_LENGTH_P4
#define FCN_FRAME_LENGTH_P4

// FrameLength: an IP packet longer than the frame it came in is refused; a shorter one is padded.
// Reads:  first IP header's length, octets of the frame (Ethernet header included).
// Writes: meta.drop_reason.
// When:   every packet from the wire, on targets that know the frame's length in ingress.
control FrameLength(in pe_headers_t hdr, in bit<32> frame_octets, inout meta_t meta) {
    apply {
        bit<32> needed = 0;
        if (hdr.outer_ipv6.isValid()) {
            needed = 54 + (bit<32>)hdr.outer_ipv6.payload_len;
        } else if (hdr.ipv6.isValid()) {
            needed = 54 + (bit<32>)hdr.ipv6.payload_len;
        } else if (hdr.ipv4.isValid()) {
            needed = 14 + (bit<32>)hdr.ipv4.total_len;
        }
        if (hdr.vlan.isValid()) {
            needed = needed + VLAN_TAG_LENGTH;
        }
        if (needed > frame_octets && meta.drop_reason == DropReason.NONE) {
            meta.drop_reason = DropReason.BAD_LENGTH;
        }
    }
}

#endif
