#ifndef FCN_ICRC_P4
#define FCN_ICRC_P4

#include "../../base/v1model/pe.p4"


// Icrc: invariant CRC of a CNP (IBTA annex A17.3.3): CRC-32 from 64 ones over the packet from the IP
// header on, with the fields that change in transit set to ones; little-endian on the wire.
// Reads:  IP addresses, BTH P_Key and DestQP, hdr.cnp_profile; what is the same in every CNP is constant here.
// Writes: hdr.roce.cnp_payload.icrc.
// When:   the CNP's headers are complete.
control Icrc(inout pe_headers_t hdr, in pe_meta_t meta) {
    apply {
        bit<32> crc;
        if (meta.cnp_is_ipv4) {
            hash(crc, HashAlgorithm.crc32, 32w0,
                 { 64w0xffffffffffffffff,
                   8w0x45 ++ 8w0xff ++ CNP_IPV4_TOTAL_LENGTH ++ hdr.cnp_profile.ipv4_id ++ 16w0x4000,
                   8w0xff ++ 8w17 ++ 16w0xffff ++ hdr.ipv4.src,
                   hdr.ipv4.dst ++ hdr.cnp_profile.udp_src_port ++ 16w4791,
                   CNP_UDP_LENGTH ++ 16w0xffff ++ 8w0x81 ++ 8w0 ++ hdr.roce.bth.p_key,
                   8w0xff ++ hdr.roce.bth.dest_qp ++ 8w0 ++ 24w0, 128w0 },
                 64w0x100000000);
        } else {
            hash(crc, HashAlgorithm.crc32, 32w0,
                 { 64w0xffffffffffffffff, 32w0x6fffffff ++ CNP_UDP_LENGTH ++ 8w17 ++ 8w0xff,
                   hdr.ipv6.src, hdr.ipv6.dst,
                   hdr.cnp_profile.udp_src_port ++ 16w4791 ++ CNP_UDP_LENGTH ++ 16w0xffff,
                   8w0x81 ++ 8w0 ++ hdr.roce.bth.p_key ++ 8w0xff ++ hdr.roce.bth.dest_qp,
                   8w0 ++ 24w0, 128w0 },
                 64w0x100000000);
        }
        hdr.roce.cnp_payload.icrc = crc[7:0] ++ crc[15:8] ++ crc[23:16] ++ crc[31:24];
    }
}

#endif
