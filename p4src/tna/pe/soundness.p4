#ifndef FCN_TNA_PE_SOUNDNESS_P4
#define FCN_TNA_PE_SOUNDNESS_P4

#include "../../fast_cnp/tna/fast_cnp_checksum.p4"
#include "../pe_metadata.p4"

// Soundness: are a packet's headers sound, as far as the parser could not tell?
// Reads:  the parser's error and sums; IP headers.
// Writes: md.meta.notification_sound, parse_failed, base.is_malformed.
// When:   behind Admit.
control Soundness(
        in pe_pass_headers_t hdr, inout tna_pe_meta_t md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md) {
    FastCnpChecksum() fast_cnp_checksum;

    apply {
        fast_cnp_checksum.apply(hdr.pe.fast_cnp, hdr.pe.outer_ipv6.payload_len, md.parser_sum, md.meta);
        // Or a total length below 20 octets, as masks
        if (ig_prsr_md.parser_err != 0) {
            md.meta.parse_failed = true;
        } else if (hdr.pe.ipv6.isValid() && hdr.pe.ipv6.version != 6) {
            md.meta.parse_failed = true;
        } else if (hdr.pe.ipv4.isValid() && hdr.pe.ipv4.total_len & 0xfff0 == 0) {
            md.meta.parse_failed = true;
        } else if (hdr.pe.ipv4.isValid() && hdr.pe.ipv4.total_len & 0xfffc == 0x0010) {
            md.meta.parse_failed = true;
        }
        // Without an underlay header the packet is refused for what the parser found.
        if (ig_prsr_md.parser_err != 0 && !hdr.pe.outer_ipv6.isValid()) {
            md.meta.base.is_malformed = true;
        }
    }
}

#endif
