#ifndef FCN_PE_TELL_APART_P4
#define FCN_PE_TELL_APART_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/notification_port.p4"
#include "../../fast_cnp/v1model/fast_cnp_checksum.p4"

// TakeAsUnderlay: on a core port, what was parsed as a customer's packet is an underlay packet.
// Writes: hdr.outer_ipv6, hdr.ipv6.
// When:   hdr.outer_ipv6 is not valid.
control TakeAsUnderlay(inout pe_headers_t hdr) {
    action take_as_underlay() {
        hdr.outer_ipv6 = hdr.ipv6;
        hdr.ipv6.setInvalid();
    }

    apply {
        take_as_underlay();
    }
}

// TellApart: ARP, a notification, a packet of the underlay, a customer's?
// Reads:  headers, the parser's error and checksums; meta.base.role.
// Writes: the VLAN tag ends; meta.base.is_arp, notification_kind, is_malformed; meta.notification_sound and notify_label of a
//         Fast CNP; hdr.outer_ipv6.
// When:   behind what needs the frame as it came.
control TellApart(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NotificationPort() notification_port;
    FastCnpChecksum() fast_cnp_checksum;
    TakeAsUnderlay() take_as_underlay;

    apply {
        meta.parse_failed = meta.parse_failed || standard_metadata.parser_error != error.NoError;
        meta.ipv4_checksum_failed = standard_metadata.checksum_error == 1;
        if (hdr.vlan.isValid()) {
            hdr.ethernet.ether_type = hdr.vlan.ether_type;
            hdr.vlan.setInvalid();
        }
        if (hdr.ipv4.isValid()) {
            // Neither ARP nor a notification
        } else if (!hdr.ipv6.isValid()) {
            meta.base.is_arp = hdr.ethernet.ether_type == EtherType.ARP;
        } else if (!hdr.outer_ipv6.isValid() && hdr.udp.isValid() && !hdr.roce.bth.isValid()) {
            notification_port.apply(hdr.udp.dst_port, meta.base);
            if (hdr.fast_cnp.isValid() && meta.base.notification_kind == NotificationKind.FAST_CNP) {
                bit<16> checksum;
                fast_cnp_checksum.apply(hdr.ipv6, hdr.udp, hdr.fast_cnp, checksum);
                meta.notification_sound = checksum == hdr.udp.checksum
                    && hdr.ipv6.payload_len == FAST_CNP_UDP_LENGTH;
                meta.notify_label = hdr.fast_cnp.word[31:12];
            }
        }
        if (meta.base.role == Role.CORE) {
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
}

#endif
