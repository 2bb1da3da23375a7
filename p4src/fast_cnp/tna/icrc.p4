#ifndef FCN_ICRC_P4
#define FCN_ICRC_P4

// Icrc: invariant CRC of a CNP (IBTA annex A17.3.3): CRC-32 from 64 ones over the packet from the IP
// header on, with the fields that change in transit set to ones; little-endian on the wire. What is
// the same in every CNP is constant here, so that the hash reads what FlowByLabel and CnpProfile
// decide, and need not wait for CnpGenerator.
// Reads:  IP addresses, BTH P_Key and DestQP; hdr.cnp_profile.udp_src_port, hdr.cnp_profile.ipv4_id.
// Writes: hdr.roce.cnp_payload.icrc.
// When:   meta.make_cnp; the hash of any other packet goes nowhere.
control Icrc(inout pe_headers_t hdr, in pe_meta_t meta) {
    CRCPolynomial<bit<32>>(
        coeff = 32w0x04c11db7, reversed = true, msb = false, extended = false,
        init = 32w0xffffffff, xor = 32w0xffffffff) crc32;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, crc32) icrc_ipv4;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, crc32) icrc_ipv6;
    bit<32> crc;

    action hash_ipv4() {
        crc = icrc_ipv4.get({
            64w0xffffffffffffffff,
            8w0x45, 8w0xff, CNP_IPV4_TOTAL_LENGTH, hdr.cnp_profile.ipv4_id, 16w0x4000, 8w0xff, 8w17,
            16w0xffff, hdr.ipv4.src, hdr.ipv4.dst,
            hdr.cnp_profile.udp_src_port, 16w4791, CNP_UDP_LENGTH, 16w0xffff,
            8w0x81, 8w0, hdr.roce.bth.p_key, 8w0xff, hdr.roce.bth.dest_qp, 8w0, 24w0, 128w0 });
    }
    action hash_ipv6() {
        crc = icrc_ipv6.get({
            64w0xffffffffffffffff,
            32w0x6fffffff, CNP_UDP_LENGTH, 8w17, 8w0xff, hdr.ipv6.src, hdr.ipv6.dst,
            hdr.cnp_profile.udp_src_port, 16w4791, CNP_UDP_LENGTH, 16w0xffff,
            8w0x81, 8w0, hdr.roce.bth.p_key, 8w0xff, hdr.roce.bth.dest_qp, 8w0, 24w0, 128w0 });
    }
    action to_wire() {
        hdr.roce.cnp_payload.icrc = crc[7:0] ++ crc[15:8] ++ crc[23:16] ++ crc[31:24];
    }

    apply {
        if (meta.cnp_is_ipv4) {
            hash_ipv4();
        }
        if (!meta.cnp_is_ipv4) {
            hash_ipv6();
        }
        if (meta.make_cnp) {
            to_wire();
        }
    }
}

#endif
