#ifndef FCN_PE_ADMIT_P4
#define FCN_PE_ADMIT_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/notification_port.p4"
#include "../../forwarding/port_mac.p4"
#include "../../forwarding/port_role.p4"

// FrameLength: drops an IP packet longer than its frame, or shorter than its own header (RFC 1812 section
// 5.2.2); a packet shorter than its frame is followed by padding.
// Reads:  first IP header's lengths, octets of the frame (Ethernet header and VLAN tag included).
// Writes: meta.drop_reason.
// When:   every packet from the wire.
control FrameLength(
        in vlan_h vlan, in ipv6_h outer_ipv6, in ipv4_h ipv4, in ipv6_h ipv6, in bit<32> frame_octets,
        inout base_meta_t meta) {
    action bad_length() {
        meta.drop_reason = DropReason.BAD_LENGTH;
    }

    apply {
        bit<32> ip_octets =
            frame_octets - (vlan.isValid() ? (bit<32>)TAGGED_ETHERNET_LENGTH : (bit<32>)ETHERNET_LENGTH);
        if (outer_ipv6.isValid()) {
            if ((bit<32>)outer_ipv6.payload_len + (bit<32>)IPV6_LENGTH > ip_octets) {
                bad_length();
            }
        } else if (ipv4.isValid()) {
            if ((bit<32>)ipv4.total_len > ip_octets || ipv4.total_len < 10w0 ++ ipv4.ihl ++ 2w0) {
                bad_length();
            }
        } else if (ipv6.isValid()) {
            if ((bit<32>)ipv6.payload_len + (bit<32>)IPV6_LENGTH > ip_octets) {
                bad_length();
            }
        }
    }
}

// Admit: whose port a packet came from, whether it is for this node, and whether its lengths are right.
// Reads:  port, headers, the parser's error and checksums.
// Writes: meta.base.ingress_port, now, vlan_id, is_arp, notification_kind, role, vrf, is_addressed, drop_reason;
//         meta.parse_failed, ipv4_checksum_failed. The VLAN tag ends.
// When:   a packet from the wire.
control Admit(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    LinkHeard() link_heard;
    FrameLength() frame_length;
    HoldArrival() hold_arrival;
    NotificationPort() notification_port;
    PortRole() port_role;
    PortMac() port_mac;
    OtherStation() other_station;

    apply {
        if (meta.flat == 0 && meta.base.parse_more == ParseMore.NONE) {
            meta.base.ingress_port = standard_metadata.ingress_port;
            port_rx.count(meta.base.ingress_port);
            meta.base.now = standard_metadata.ingress_global_timestamp;
            link_heard.apply(hdr, meta, standard_metadata);
        }
        frame_length.apply(
            hdr.vlan, hdr.outer_ipv6, hdr.ipv4, hdr.ipv6, standard_metadata.packet_length, meta.base);
        hold_arrival.apply(hdr, meta, standard_metadata);
        if (hdr.vlan.isValid()) {
            meta.base.vlan_id = hdr.vlan.vlan_id;
            hdr.ethernet.ether_type = hdr.vlan.ether_type;
            hdr.vlan.setInvalid();
        }
        meta.parse_failed = meta.parse_failed || standard_metadata.parser_error != error.NoError;
        meta.ipv4_checksum_failed = standard_metadata.checksum_error == 1;
        meta.base.is_arp = hdr.ethernet.ether_type == EtherType.ARP;
        if (hdr.ipv6.isValid()) {
            if (!hdr.outer_ipv6.isValid() && hdr.udp.isValid() && !hdr.roce.bth.isValid()) {
                notification_port.apply(hdr.udp.dst_port, meta.base);
            }
        }
        port_role.apply(meta.base);
        port_mac.apply(hdr.ethernet, meta.base);
        other_station.apply(hdr.ethernet, meta.base);
    }
}

#endif
