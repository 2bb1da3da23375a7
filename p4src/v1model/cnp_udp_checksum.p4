#ifndef FCN_CNP_UDP_CHECKSUM_P4
#define FCN_CNP_UDP_CHECKSUM_P4

// CnpUdpChecksum: the UDP checksum of a CNP over IPv6; over IPv4 it is zero, as real NICs send it.
// Reads:  the CNP's headers, ICRC included.
// Writes: UDP checksum.
// When:   the CNP is complete.
control CnpUdpChecksum(inout pe_headers_t hdr) {
    apply {
        hash(hdr.udp.checksum, HashAlgorithm.csum16, 16w0,
             { hdr.ipv6.src, hdr.ipv6.dst, 16w0, hdr.udp.length, 24w0, hdr.ipv6.next_header,
               hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length,
               hdr.bth.opcode, hdr.bth.se_m_pad_tver, hdr.bth.p_key, hdr.bth.fecn_becn,
               hdr.bth.dest_qp, hdr.bth.ack_req, hdr.bth.psn, hdr.cnp_payload.reserved,
               hdr.icrc.value },
             32w0x10000);
        if (hdr.udp.checksum == 0) {
            hdr.udp.checksum = 0xffff;
        }
    }
}

#endif
