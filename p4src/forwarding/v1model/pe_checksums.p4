// The checksums of the provider edge that simple_switch verifies behind the parser, and computes before the deparser.
#ifndef FCN_PE_CHECKSUMS_P4
#define FCN_PE_CHECKSUMS_P4

#include "../../base/v1model/pe.p4"


// PeVerifyChecksum
// Reads:  headers of IPv4, neighbour solicitations and a mode's messages; fields of headers that are not valid count for
//         nothing.
// Writes: standard_metadata.checksum_error.
// When:   every packet.
control PeVerifyChecksum(inout pe_headers_t hdr, inout pe_meta_t meta) {
    PathChecksums() path_checksums;

    apply {
        verify_checksum(
            hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
        path_checksums.apply(hdr);
        // RFC 4443 section 2.3
        verify_checksum(
            hdr.neighbor.nd.isValid() && !hdr.neighbor.nd_option.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
        verify_checksum(
            hdr.neighbor.nd.isValid() && hdr.neighbor.nd_option.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target,
              hdr.neighbor.nd_option.type, hdr.neighbor.nd_option.length, hdr.neighbor.nd_option.mac },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
    }
}

// PeComputeChecksum: of what is made here. Other checksums are updated where the header changes.
// Reads:  meta.answered, meta.make_cnp; headers.
// Writes: checksums of neighbour advertisements and of the IPv4 header of CNPs.
// When:   every packet, last.
control PeComputeChecksum(inout pe_headers_t hdr, inout pe_meta_t meta) {
    apply {
        update_checksum(
            meta.answered && hdr.neighbor.nd.isValid(),
            { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.ipv6.payload_len, 24w0, hdr.ipv6.next_header,
              hdr.neighbor.nd.type, hdr.neighbor.nd.code, hdr.neighbor.nd.flags, hdr.neighbor.nd.target,
              hdr.neighbor.nd_option.type, hdr.neighbor.nd_option.length, hdr.neighbor.nd_option.mac },
            hdr.neighbor.nd.checksum, HashAlgorithm.csum16);
        update_checksum(
            meta.make_cnp && hdr.ipv4.isValid(),
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
              hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
              hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

#endif
