#ifndef FCN_INGRESS_PE_NOTICE_P4
#define FCN_INGRESS_PE_NOTICE_P4

#include "../../base/v1model/pe.p4"
#include "../../end_con/end_con_packet.p4"
#include "cnp_udp_checksum.p4"
#include "fast_cnp_checksum.p4"

// IngressPeNotice: makes the copy the notification, a Fast CNP (FCN-9, FCN-10) or a CNP by way of END.CON (SRF-4), as P's
// FastCnp and EndConCnp do.
// Reads:  hdr.ingress_pe, customer headers; base.copy_kind, base.copy_label, base.copy_level.
// Writes: every header; the length of the frame; is_cnp: its IPv4 header needs a checksum.
// When:   on the egress copy of a packet that met the congested queue, which has no underlay header any more.
control IngressPeNotice(inout pe_headers_t hdr, in base_meta_t base, out bool is_cnp) {
    FastCnpChecksum() fast_cnp_checksum;
    CnpUdpChecksum() cnp_udp_checksum;
    EndConPayload() payload;
    BackToIpv4Sender() back_to_ipv4_sender;
    BackToIpv6Sender() back_to_ipv6_sender;

    bit<1> shows_label;

    // As P's FastCnpProfile
    action set_fast_cnp_profile(
            ipv6_addr_t src, bit<16> udp_src_port, bit<16> udp_dst_port, bit<8> traffic_class,
            bit<8> hop_limit, bit<1> copy_label) {
        hdr.outer_ipv6.src = src;
        hdr.outer_ipv6.dscp = traffic_class[7:2];
        hdr.outer_ipv6.hop_limit = hop_limit;
        hdr.udp.src_port = udp_src_port;
        hdr.udp.dst_port = udp_dst_port;
        shows_label = copy_label;
    }

    @name(".fast_cnp_profile")
    table profile {
        actions = {
            set_fast_cnp_profile;
        }
        default_action = set_fast_cnp_profile(0, 0, 0, 0, TUNNEL_HOP_LIMIT, 0);
    }

    action remove_customer_headers() {
        hdr.vlan.setInvalid();
        hdr.fast_cnp.setInvalid();
        hdr.roce.deth.setInvalid();
        hdr.roce.mad.setInvalid();
        hdr.roce.cm_ids.setInvalid();
    }
    // A notification is never ECN-capable, so no node takes it for a congested flow.
    action to_ingress_pe() {
        hdr.ethernet.ether_type = EtherType.IPV6;
        hdr.outer_ipv6.setValid();
        hdr.outer_ipv6.version = 6;
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
        hdr.outer_ipv6.flow_label = base.copy_label;
        hdr.outer_ipv6.dst = hdr.ingress_pe.address;
        hdr.udp.setValid();
    }
    action build_fast_cnp() {
        hdr.ipv4.setInvalid();
        hdr.ipv6.setInvalid();
        hdr.roce.bth.setInvalid();
        hdr.outer_ipv6.payload_len = FAST_CNP_UDP_LENGTH;
        hdr.outer_ipv6.next_header = IpProtocol.UDP;
        hdr.udp.length = FAST_CNP_UDP_LENGTH;
        hdr.fast_cnp.setValid();
        hdr.fast_cnp.word = base.copy_label ++ base.copy_level ++ 9w0;
    }

    apply {
        is_cnp = base.copy_kind == NotificationKind.END_CON_CNP;
        remove_customer_headers();
        to_ingress_pe();
        profile.apply();
        if (is_cnp) {
            payload.apply(hdr.udp, hdr.roce.bth, hdr.roce.cnp_payload);
            if (hdr.ipv4.isValid()) {
                back_to_ipv4_sender.apply(hdr.outer_ipv6, hdr.ipv4);
            } else {
                back_to_ipv6_sender.apply(hdr.outer_ipv6, hdr.ipv6);
                cnp_udp_checksum.apply(hdr.ipv6, hdr.roce.bth, hdr.roce.cnp_payload, hdr.udp);
            }
        } else {
            build_fast_cnp();
            bit<16> checksum;
            fast_cnp_checksum.apply(hdr.outer_ipv6, hdr.udp, hdr.fast_cnp, checksum);
            hdr.udp.checksum = checksum;
            if (shows_label == 0) {
                hdr.outer_ipv6.flow_label = 0;
            }
        }
    }
}

#endif
