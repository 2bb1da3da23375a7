// The header set of the transit node: it sees the underlay only, but for copies of congested packets in mode END.CON,
// and for packets whose flow can be held.
#ifndef FCN_P_HEADERS_P4
#define FCN_P_HEADERS_P4

#include "five_tuple.p4"
#include "headers.p4"
#include "../fantel/links/bfd_headers.p4"
#include "../fantel/messages/fantel_headers.p4"
#include "../flow_control/arn_headers.p4"

// How the Fast CNPs of this node look; FastCnpProfile sets it. Never on the wire: BMv2 clears metadata for
// every packet, but not the fields of headers.
header fast_cnp_profile_h {
    ipv6_addr_t src;
    bit<16> udp_src_port;
    bit<16> udp_dst_port;
    bit<8> traffic_class;
    bit<8> hop_limit;
    bit<1> copy_label;
    bit<7> pad;
}

// What a tunnel carries, parsed of such packets only
struct inner_headers_t {
    ipv4_h ipv4;
    ipv6_h ipv6;
    udp_h udp;
    bth_h bth;
    cnp_payload_h cnp_payload;
}

struct p_headers_t {
    packet_in_h packet_in;
    packet_out_h packet_out;
    ethernet_h ethernet;
    ipv6_h outer_ipv6;
    srv6_headers_t srv6;
    tunnel_headers_t tunnel;
    inner_headers_t inner;
    // Of Fast CNPs made here
    fast_cnp_h fast_cnp;
    fast_cnp_profile_h fast_cnp_profile;
#if HAS_FLOW_CONTROL || HAS_FANTEL
    // Of messages made here or for this node
    five_tuple_headers_t five_tuple;
    envelope_h envelope;
#endif
#if HAS_FLOW_CONTROL
    arn_headers_t arn;
#endif
#if HAS_FANTEL
    // Of links that are watched, and of FANTEL messages made here
    clock_h clock;
    bfd_h bfd;
    hello_h hello;
    notice_h notice;
    p_fantel_headers_t fantel;
#endif
}

#endif
