#ifndef FCN_PE_FROM_CORE_PORT_P4
#define FCN_PE_FROM_CORE_PORT_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/fast_cnp_checksum.p4"
#include "take_as_underlay.p4"

// FromCorePort: a Fast CNP is checked as it came; then every IPv6 header is the underlay's.
// Reads:  headers; meta.base.notification_kind, meta.parse_failed.
// Writes: meta.notification_sound and notify_label of a Fast CNP; hdr.outer_ipv6; meta.base.is_malformed.
// When:   a packet from a core port.
control FromCorePort(inout pe_headers_t hdr, inout pe_meta_t meta) {
    FastCnpChecksum() fast_cnp_checksum;
    TakeAsUnderlay() take_as_underlay;

    apply {
        if (hdr.fast_cnp.isValid() && meta.base.notification_kind == NotificationKind.FAST_CNP) {
            bit<16> checksum;
            fast_cnp_checksum.apply(hdr.ipv6, hdr.udp, hdr.fast_cnp, checksum);
            meta.notification_sound = checksum == hdr.udp.checksum
                && hdr.ipv6.payload_len == FAST_CNP_UDP_LENGTH;
            meta.notify_label = hdr.fast_cnp.word[31:12];
        }
        if (!hdr.outer_ipv6.isValid() && hdr.ipv6.isValid()) {
            take_as_underlay.apply(hdr);
        }
        if (hdr.outer_ipv6.isValid()) {
            meta.base.is_malformed = hdr.outer_ipv6.version != 6;
        } else {
            meta.base.is_malformed = meta.parse_failed;
        }
    }
}

#endif
