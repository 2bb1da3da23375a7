#ifndef FCN_ENTROPY_P4
#define FCN_ENTROPY_P4

// Entropy: a hash over what identifies the customer's flow (RFC 6438).
// Reads:  customer addresses, protocol and flow label; the two ports, 0 where there are none.
// Writes: meta.entropy; meta.flow_label, until FlowTable has another.
// When:   every customer packet.
control Entropy(in pe_headers_t hdr, in bit<32> ports, inout pe_meta_t meta) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) entropy_ipv4;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) entropy_ipv6;

    action hash_ipv4() {
        meta.entropy = entropy_ipv4.get({
            hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, ports });
    }
    action hash_ipv6() {
        meta.entropy = entropy_ipv6.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.next_header, hdr.ipv6.flow_label, ports });
    }

    action entropy_label() {
        meta.flow_label[18:0] = meta.entropy[18:0];
    }

    apply {
        if (hdr.ipv4.isValid()) {
            hash_ipv4();
        } else if (hdr.ipv6.isValid()) {
            hash_ipv6();
        }
        entropy_label();
    }
}

#endif
