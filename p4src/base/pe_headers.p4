// The header set of the provider edge.
#ifndef FCN_PE_HEADERS_P4
#define FCN_PE_HEADERS_P4

#include "five_tuple.p4"
#include "headers.p4"
#include "../fantel/links/bfd_headers.p4"
#include "../fantel/links/link_types.p4"
#include "../fantel/messages/fantel_headers.p4"
#include "../fantel/paths/path_types.p4"
#include "../flow_control/arn_headers.p4"

// What is behind the customer's UDP header. A CNP has no headers from DETH on, another packet none of the
// CNP's behind the BTH.
struct roce_headers_t {
    bth_h bth;
    cnp_payload_h cnp_payload;
    deth_h deth;
    mad_h mad;
    cm_ids_h cm_ids;
}

// What a host on a DC port asks about a gateway; see neighbor_parser.p4.
struct neighbor_headers_t {
    arp_h arp;
    nd_h nd;
    nd_option_h nd_option;
}

// How the CNPs of this node look; CnpProfile sets it. Never on the wire: BMv2 clears metadata for every
// packet, but not the fields of headers.
header cnp_profile_h {
    bit<8> traffic_class;
    bit<8> ttl;
    bit<16> udp_src_port;
    bit<16> ipv4_id;
    interval_t min_interval;
}

// A report on a path, and the reporter: the bit of a link or node, or PATH_BY_HAND. Of a FANTEL message ReceiveFantel
// makes it; from the controller it is behind packet_out with the CPU as egress port.
header path_report_h {
    path_id_t path_id;
    reporter_set_t reporter;
    // Where it says that
    path_load_t load;
    bit<5> reserved;
    PathReport report;
}

// `outer_ipv6`, `srv6` and `tunnel` are the underlay packet's, the headers from `ipv4` on the customer's;
// a packet on a DC port has no underlay headers until it is encapsulated.
struct pe_headers_t {
    packet_in_h packet_in;
    packet_out_h packet_out;
    ethernet_h ethernet;
    vlan_h vlan;
    ipv6_h outer_ipv6;
    srv6_headers_t srv6;
    tunnel_headers_t tunnel;
    ipv4_h ipv4;
    ipv6_h ipv6;
    udp_h udp;
    fast_cnp_h fast_cnp;
    roce_headers_t roce;
    neighbor_headers_t neighbor;
    cnp_profile_h cnp_profile;
    ingress_pe_h ingress_pe;
#if HAS_FLOW_CONTROL || HAS_FANTEL
    // Of messages made here or for this node
    five_tuple_headers_t five_tuple;
    envelope_h envelope;
#endif
#if HAS_FLOW_CONTROL
    arn_headers_t arn;
    pause_h pause;
    held_name_h held_name;
#endif
#if HAS_FANTEL
    fantel_headers_t fantel;
    path_report_h path_report;
    // Of links that are watched
    clock_h clock;
    bfd_h bfd;
    hello_h hello;
    notice_h notice;
#endif
}

#endif
