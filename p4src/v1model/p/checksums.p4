// The checksums of a transit node.
#ifndef FCN_P_CHECKSUMS_P4
#define FCN_P_CHECKSUMS_P4

#include "../../base/v1model/p.p4"


// PVerifyChecksum: a transit node verifies none.
control PVerifyChecksum(inout p_headers_t hdr, inout p_meta_t meta) {
    apply { }
}

// PComputeChecksum: the IPv4 header of a CNP made here.
// Writes: its checksum.
// When:   every packet, last.
control PComputeChecksum(inout p_headers_t hdr, inout p_meta_t meta) {
    apply {
        update_checksum(
            hdr.inner.cnp_payload.isValid() && hdr.inner.ipv4.isValid(),
            { hdr.inner.ipv4.version, hdr.inner.ipv4.ihl, hdr.inner.ipv4.dscp, hdr.inner.ipv4.ecn,
              hdr.inner.ipv4.total_len, hdr.inner.ipv4.identification, hdr.inner.ipv4.flags,
              hdr.inner.ipv4.frag_offset, hdr.inner.ipv4.ttl, hdr.inner.ipv4.protocol,
              hdr.inner.ipv4.src, hdr.inner.ipv4.dst },
            hdr.inner.ipv4.checksum, HashAlgorithm.csum16);
    }
}

#endif
