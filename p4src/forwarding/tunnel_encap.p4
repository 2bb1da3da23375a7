#ifndef FCN_TUNNEL_ENCAP_P4
#define FCN_TUNNEL_ENCAP_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// What is between the outer IPv6 header and the customer's packet, in octets.
const bit<16> SRH1_LENGTH = SRH_LENGTH + SID_LENGTH;
const bit<16> SRH2_LENGTH = SRH1_LENGTH + SID_LENGTH;
const bit<16> SRH3_LENGTH = SRH2_LENGTH + SID_LENGTH;
const bit<16> SRH4_LENGTH = SRH3_LENGTH + SID_LENGTH;
const bit<16> VXLAN_OVERHEAD = UDP_LENGTH + VXLAN_LENGTH + ETHERNET_LENGTH;
const bit<16> MPLS_UDP1_OVERHEAD = UDP_LENGTH + MPLS_LENGTH;
const bit<16> MPLS_UDP2_OVERHEAD = MPLS_UDP1_OVERHEAD + MPLS_LENGTH;

// TunnelEncap: puts the customer packet into its tunnel (FCN-5, FCN-6, FCN-7, SRF-1, PEC-5).
// Reads:  meta.tunnel, meta.flow_label, meta.entropy, meta.customer_ecn, meta.customer_length
//         (octets of the customer's IP packet), meta.customer_next_header (4 or 41).
// Writes: underlay headers; meta.base.forward (UNDERLAY).
// When:   meta.base.forward == Forward.TUNNEL.
control TunnelEncap(inout pe_headers_t hdr, inout pe_meta_t meta) {
    action outer(EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst) {
        hdr.outer_ipv6.setValid();
        hdr.outer_ipv6.version = 6;
        hdr.outer_ipv6.dscp = 0;
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
        hdr.outer_ipv6.flow_label = meta.flow_label;
        hdr.outer_ipv6.hop_limit = TUNNEL_HOP_LIMIT;
        hdr.outer_ipv6.src = src;
        hdr.outer_ipv6.dst = dst;
        hdr.ethernet.ether_type = EtherType.IPV6;
        meta.ecn_mode = ecn_mode;
        meta.encapsulated = true;
        meta.base.forward = Forward.UNDERLAY;
    }

    action srh(bit<8> segments_left, bit<8> last_entry, bit<8> hdr_ext_len, bit<16> tag) {
        hdr.outer_ipv6.next_header = IpProtocol.ROUTING;
        hdr.srv6.srh.setValid();
        hdr.srv6.srh.next_header = meta.customer_next_header;
        hdr.srv6.srh.hdr_ext_len = hdr_ext_len;
        hdr.srv6.srh.routing_type = 4;
        hdr.srv6.srh.segments_left = segments_left;
        hdr.srv6.srh.last_entry = last_entry;
        hdr.srv6.srh.flags = 0;
        hdr.srv6.srh.tag = tag;
    }

    // H.Encaps.Red with one SID (RFC 8986 section 5.2): no SRH.
    action encap_srv6(EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst) {
        outer(ecn_mode, src, dst);
        hdr.outer_ipv6.next_header = meta.customer_next_header;
        hdr.outer_ipv6.payload_len = meta.customer_length;
    }

    // Segments in wire order: seg0 is the last SID of the policy (RFC 8754 section 2). The tag tells a transit node which of
    // the PE's paths it is, 0 for none.
    action encap_srv6_srh1(
            EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<8> segments_left, bit<16> tag,
            ipv6_addr_t seg0) {
        outer(ecn_mode, src, dst);
        srh(segments_left, 0, 2, tag);
        hdr.outer_ipv6.payload_len = meta.customer_length + SRH1_LENGTH;
        hdr.srv6.segment0.setValid();
        hdr.srv6.segment0.sid = seg0;
    }
    action encap_srv6_srh2(
            EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<8> segments_left, bit<16> tag,
            ipv6_addr_t seg0, ipv6_addr_t seg1) {
        outer(ecn_mode, src, dst);
        srh(segments_left, 1, 4, tag);
        hdr.outer_ipv6.payload_len = meta.customer_length + SRH2_LENGTH;
        hdr.srv6.segment0.setValid();
        hdr.srv6.segment0.sid = seg0;
        hdr.srv6.segment1.setValid();
        hdr.srv6.segment1.sid = seg1;
    }
    action encap_srv6_srh3(
            EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<8> segments_left, bit<16> tag,
            ipv6_addr_t seg0, ipv6_addr_t seg1, ipv6_addr_t seg2) {
        outer(ecn_mode, src, dst);
        srh(segments_left, 2, 6, tag);
        hdr.outer_ipv6.payload_len = meta.customer_length + SRH3_LENGTH;
        hdr.srv6.segment0.setValid();
        hdr.srv6.segment0.sid = seg0;
        hdr.srv6.segment1.setValid();
        hdr.srv6.segment1.sid = seg1;
        hdr.srv6.segment2.setValid();
        hdr.srv6.segment2.sid = seg2;
    }
    action encap_srv6_srh4(
            EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<8> segments_left, bit<16> tag,
            ipv6_addr_t seg0, ipv6_addr_t seg1, ipv6_addr_t seg2, ipv6_addr_t seg3) {
        outer(ecn_mode, src, dst);
        srh(segments_left, 3, 8, tag);
        hdr.outer_ipv6.payload_len = meta.customer_length + SRH4_LENGTH;
        hdr.srv6.segment0.setValid();
        hdr.srv6.segment0.sid = seg0;
        hdr.srv6.segment1.setValid();
        hdr.srv6.segment1.sid = seg1;
        hdr.srv6.segment2.setValid();
        hdr.srv6.segment2.sid = seg2;
        hdr.srv6.segment3.setValid();
        hdr.srv6.segment3.sid = seg3;
    }

    // The UDP checksum of a tunnel over IPv6 may be zero (RFC 6935).
    action outer_udp(bit<16> dst_port, bit<16> length) {
        hdr.outer_ipv6.next_header = IpProtocol.UDP;
        hdr.outer_ipv6.payload_len = length;
        hdr.tunnel.udp.setValid();
        hdr.tunnel.udp.src_port = meta.entropy[15:0] | ENTROPY_PORTS;
        hdr.tunnel.udp.dst_port = dst_port;
        hdr.tunnel.udp.length = length;
        hdr.tunnel.udp.checksum = 0;
    }

    action encap_vxlan(
            EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<24> vni,
            mac_addr_t inner_src_mac, mac_addr_t inner_dst_mac) {
        hdr.tunnel.inner_ethernet.setValid();
        hdr.tunnel.inner_ethernet.dst = inner_dst_mac;
        hdr.tunnel.inner_ethernet.src = inner_src_mac;
        hdr.tunnel.inner_ethernet.ether_type = hdr.ethernet.ether_type;
        outer(ecn_mode, src, dst);
        outer_udp(UdpPort.VXLAN, meta.customer_length + VXLAN_OVERHEAD);
        hdr.tunnel.vxlan.setValid();
        hdr.tunnel.vxlan.flags = 0x08;
        hdr.tunnel.vxlan.reserved1 = 0;
        hdr.tunnel.vxlan.vni = vni;
        hdr.tunnel.vxlan.reserved2 = 0;
    }

    // RFC 7676 with the key of RFC 2890
    action encap_gre(EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<32> key) {
        hdr.tunnel.gre.setValid();
        hdr.tunnel.gre.flags = 0x2000;
        hdr.tunnel.gre.protocol = hdr.ethernet.ether_type;
        hdr.tunnel.gre_key.setValid();
        hdr.tunnel.gre_key.key = key;
        outer(ecn_mode, src, dst);
        hdr.outer_ipv6.next_header = IpProtocol.GRE;
        hdr.outer_ipv6.payload_len = meta.customer_length + GRE_WITH_KEY_LENGTH;
    }

    // RFC 7510, RFC 8663: the VPN label alone, or behind one SR label
    action encap_mpls_udp1(
            EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<20> vpn_label) {
        outer(ecn_mode, src, dst);
        outer_udp(UdpPort.MPLS, meta.customer_length + MPLS_UDP1_OVERHEAD);
        hdr.tunnel.mpls0.setValid();
        hdr.tunnel.mpls0.label = vpn_label;
        hdr.tunnel.mpls0.traffic_class = 0;
        hdr.tunnel.mpls0.bottom_of_stack = 1;
        hdr.tunnel.mpls0.ttl = TUNNEL_HOP_LIMIT;
    }
    action encap_mpls_udp2(
            EcnEncapMode ecn_mode, ipv6_addr_t src, ipv6_addr_t dst, bit<20> sr_label,
            bit<20> vpn_label) {
        outer(ecn_mode, src, dst);
        outer_udp(UdpPort.MPLS, meta.customer_length + MPLS_UDP2_OVERHEAD);
        hdr.tunnel.mpls0.setValid();
        hdr.tunnel.mpls0.label = sr_label;
        hdr.tunnel.mpls0.traffic_class = 0;
        hdr.tunnel.mpls0.bottom_of_stack = 0;
        hdr.tunnel.mpls0.ttl = TUNNEL_HOP_LIMIT;
        hdr.tunnel.mpls1.setValid();
        hdr.tunnel.mpls1.label = vpn_label;
        hdr.tunnel.mpls1.traffic_class = 0;
        hdr.tunnel.mpls1.bottom_of_stack = 1;
        hdr.tunnel.mpls1.ttl = TUNNEL_HOP_LIMIT;
    }

    action unknown_tunnel_id() {
        meta.base.drop_reason = DropReason.UNKNOWN_TUNNEL;
    }

    @name(".tunnel")
    table tunnel {
        key = {
            meta.tunnel: exact @name("tunnel");
        }
        actions = {
            @tableonly encap_srv6;
            @tableonly encap_srv6_srh1;
            @tableonly encap_srv6_srh2;
            @tableonly encap_srv6_srh3;
            @tableonly encap_srv6_srh4;
            @tableonly encap_vxlan;
            @tableonly encap_gre;
            @tableonly encap_mpls_udp1;
            @tableonly encap_mpls_udp2;
            @defaultonly unknown_tunnel_id;
        }
        const default_action = unknown_tunnel_id;
        size = TUNNEL_TABLE_SIZE;
    }

    apply {
        tunnel.apply();
        // Compatibility mode hides ECN from a domain that does not understand it.
        if (meta.encapsulated && meta.ecn_mode != EcnEncapMode.COMPATIBILITY) {
            if (meta.ecn_mode == EcnEncapMode.TWO_THRESHOLD && meta.customer_ecn == Ecn.ECT1) {
                hdr.outer_ipv6.ecn = Ecn.ECT0;
            } else {
                hdr.outer_ipv6.ecn = meta.customer_ecn;
            }
        }
    }
}

#endif
