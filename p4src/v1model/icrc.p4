#ifndef FCN_ICRC_P4
#define FCN_ICRC_P4

// Icrc: invariant CRC of a CNP (IBTA annex A17.3.3): CRC-32 from 64 ones over the packet from the IP
// header on, with the fields that change in transit set to ones; little-endian on the wire.
// Reads:  IP header, UDP ports and length, BTH.
// Writes: hdr.icrc.
// When:   the CNP's headers are complete.
control Icrc(inout pe_headers_t hdr) {
    apply {
        bit<32> crc;
        if (hdr.ipv4.isValid()) {
            hash(crc, HashAlgorithm.crc32, 32w0,
                 { 64w0xffffffffffffffff,
                   hdr.ipv4.version, hdr.ipv4.ihl, 8w0xff, hdr.ipv4.total_len,
                   hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
                   8w0xff, hdr.ipv4.protocol, 16w0xffff, hdr.ipv4.src, hdr.ipv4.dst,
                   hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length, 16w0xffff,
                   hdr.bth.opcode, hdr.bth.se_m_pad_tver, hdr.bth.p_key, 8w0xff, hdr.bth.dest_qp,
                   hdr.bth.ack_req, hdr.bth.psn, hdr.cnp_payload.reserved },
                 64w0x100000000);
        } else {
            hash(crc, HashAlgorithm.crc32, 32w0,
                 { 64w0xffffffffffffffff,
                   hdr.ipv6.version, 28w0xfffffff, hdr.ipv6.payload_len,
                   hdr.ipv6.next_header, 8w0xff, hdr.ipv6.src, hdr.ipv6.dst,
                   hdr.udp.src_port, hdr.udp.dst_port, hdr.udp.length, 16w0xffff,
                   hdr.bth.opcode, hdr.bth.se_m_pad_tver, hdr.bth.p_key, 8w0xff, hdr.bth.dest_qp,
                   hdr.bth.ack_req, hdr.bth.psn, hdr.cnp_payload.reserved },
                 64w0x100000000);
        }
        hdr.icrc.value = crc[7:0] ++ crc[15:8] ++ crc[23:16] ++ crc[31:24];
    }
}

#endif
