// A CNP for the sender of a RoCEv2 packet, made of that packet behind the END.CON SID in the underlay's destination (SRF-4).
// DestQP is still that of the data packets and the ICRC is zero, so that a host which got it nevertheless drops it.
#ifndef FCN_END_CON_PACKET_P4
#define FCN_END_CON_PACKET_P4

#include "../base/headers.p4"
#include "../base/sizes.p4"

// EndConPayload
// Writes: what is behind the IP header, but for the UDP source port.
// When:   a CNP by way of END.CON is being made.
control EndConPayload(inout udp_h udp, inout bth_h bth, inout cnp_payload_h cnp_payload) {
    apply {
        udp.dst_port = UdpPort.ROCEV2;
        udp.length = CNP_UDP_LENGTH;
        udp.checksum = 0;
        SET_CNP_BTH(bth)
        cnp_payload.setValid();
        cnp_payload.reserved = 0;
        cnp_payload.icrc = 0;
    }
}

// BackToIpv4Sender
// Reads:  DSCP and hop limit of the underlay header.
// Writes: its length and next header; the customer's IPv4 header, but for its checksum.
// When:   as EndConPayload, over IPv4.
control BackToIpv4Sender(inout ipv6_h outer_ipv6, inout ipv4_h ipv4) {
    apply {
        ipv4_addr_t receiver = ipv4.dst;
        ipv4.dst = ipv4.src;
        ipv4.src = receiver;
        ipv4.dscp = outer_ipv6.dscp;
        ipv4.ecn = Ecn.NOT_ECT;
        ipv4.total_len = CNP_IPV4_TOTAL_LENGTH;
        ipv4.identification = 0;
        ipv4.flags = 2; // DF
        ipv4.frag_offset = 0;
        ipv4.ttl = outer_ipv6.hop_limit;
        outer_ipv6.payload_len = CNP_IPV4_TOTAL_LENGTH;
        outer_ipv6.next_header = IpProtocol.IPV4;
    }
}

// BackToIpv6Sender
// Reads:  DSCP and hop limit of the underlay header.
// Writes: its length and next header; the customer's IPv6 header.
// When:   as EndConPayload, over IPv6.
control BackToIpv6Sender(inout ipv6_h outer_ipv6, inout ipv6_h ipv6) {
    apply {
        ipv6_addr_t receiver = ipv6.dst;
        ipv6.dst = ipv6.src;
        ipv6.src = receiver;
        ipv6.dscp = outer_ipv6.dscp;
        ipv6.ecn = Ecn.NOT_ECT;
        ipv6.flow_label = 0;
        ipv6.payload_len = CNP_UDP_LENGTH;
        ipv6.hop_limit = outer_ipv6.hop_limit;
        outer_ipv6.payload_len = IPV6_LENGTH + CNP_UDP_LENGTH;
        outer_ipv6.next_header = IpProtocol.IPV6;
    }
}

#endif
