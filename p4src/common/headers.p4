// Every header fcn reads or writes, in wire order, and the header sets of the two programs.
#ifndef FCN_HEADERS_P4
#define FCN_HEADERS_P4

#include "types.p4"

@controller_header("packet_in")
header packet_in_h {
    PuntReason reason;
    port_t ingress_port;
    bit<16> vlan_id;
    vrf_t vrf;
}

@controller_header("packet_out")
header packet_out_h {
    bit<7> pad;
    port_t egress_port;
}

header ethernet_h {
    mac_addr_t dst;
    mac_addr_t src;
    bit<16> ether_type;
}

header vlan_h {
    bit<3> pcp;
    bit<1> dei;
    vlan_id_t vlan_id;
    bit<16> ether_type;
}

// RFC 791; the ECN field is the last two bits of the TOS octet (RFC 3168).
header ipv4_h {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    bit<2> ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<3> flags;
    bit<13> frag_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    ipv4_addr_t src;
    ipv4_addr_t dst;
}

// RFC 8200
header ipv6_h {
    bit<4> version;
    bit<6> dscp;
    bit<2> ecn;
    flow_label_t flow_label;
    bit<16> payload_len;
    bit<8> next_header;
    bit<8> hop_limit;
    ipv6_addr_t src;
    ipv6_addr_t dst;
}

// RFC 8754 section 2, without the segment list
header srh_h {
    bit<8> next_header;
    bit<8> hdr_ext_len;
    bit<8> routing_type;
    bit<8> segments_left;
    bit<8> last_entry;
    bit<8> flags;
    bit<16> tag;
}

header srv6_segment_h {
    ipv6_addr_t sid;
}

// RFC 4443 section 2.1
header icmpv6_h {
    bit<8> type;
    bit<8> code;
    bit<16> checksum;
}

header udp_h {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

// RFC 7348 section 5
header vxlan_h {
    bit<8> flags;
    bit<24> reserved1;
    bit<24> vni;
    bit<8> reserved2;
}

// RFC 2784 section 2 and RFC 2890: C(1) reserved(1) K(1) S(1) reserved(9) version(3)
header gre_h {
    bit<16> flags;
    bit<16> protocol;
}

header gre_key_h {
    bit<32> key;
}

// RFC 3032 section 2.1
header mpls_h {
    bit<20> label;
    bit<3> traffic_class;
    bit<1> bottom_of_stack;
    bit<8> ttl;
}

// Fast CNP word: FlowLabel(20) CL(3) Rvd(9) (FCN-9). One field: no part but the whole word is of
// whole octets.
header fast_cnp_h {
    bit<32> word;
}

// IBTA volume 1, chapter 9.2: BTH
header bth_h {
    bit<8> opcode;
    bit<8> se_m_pad_tver; // SE(7) M(6) Pad(5:4) TVer(3:0)
    bit<16> p_key;
    bit<8> fecn_becn; // FECN(7) BECN(6) reserved
    qpn_t dest_qp;
    bit<8> ack_req; // AckReq(7) reserved
    bit<24> psn;
}

header cnp_payload_h {
    bit<128> reserved;
}

header icrc_h {
    bit<32> value;
}

// IBTA volume 1, chapter 9.3.2: DETH
header deth_h {
    bit<32> q_key;
    bit<8> reserved;
    qpn_t src_qp;
}

// IBTA volume 1, chapter 13.4.3: MAD common header
header mad_h {
    bit<8> base_version;
    bit<8> mgmt_class;
    bit<8> class_version;
    bit<8> method;
    bit<16> status;
    bit<16> class_specific;
    bit<64> transaction_id;
    bit<16> attribute;
    bit<16> reserved;
    bit<32> attribute_modifier;
}

// IBTA volume 1, chapter 12.6: what the messages of the connection manager begin with. In a REQ the
// second word is reserved.
header cm_ids_h {
    bit<32> local_comm_id;
    bit<32> remote_comm_id;
}

header cm_req_h {
    bit<64> service_id;
    bit<64> ca_guid;
    bit<32> reserved;
    bit<32> q_key;
    qpn_t local_qpn;
    bit<8> responder_resources;
}

header cm_rep_h {
    bit<32> q_key;
    qpn_t local_qpn;
    bit<8> reserved;
}

header cm_dreq_h {
    qpn_t remote_qpn;
    bit<8> reserved;
}

// The provider edge. `outer_*` is the underlay packet, the headers from `ipv4` on are the
// customer's; a packet on a DC port has no underlay headers until it is encapsulated.
struct pe_headers_t {
    packet_in_h packet_in;
    packet_out_h packet_out;
    ethernet_h ethernet;
    vlan_h vlan;
    ipv6_h outer_ipv6;
    srh_h srh;
    srv6_segment_h segment0;
    srv6_segment_h segment1;
    srv6_segment_h segment2;
    srv6_segment_h segment3;
    gre_h gre;
    gre_key_h gre_key;
    udp_h outer_udp;
    vxlan_h vxlan;
    mpls_h mpls0;
    mpls_h mpls1;
    ethernet_h inner_ethernet;
    ipv4_h ipv4;
    ipv6_h ipv6;
    icmpv6_h icmpv6;
    udp_h udp;
    fast_cnp_h fast_cnp;
    bth_h bth;
    cnp_payload_h cnp_payload;
    icrc_h icrc;
    deth_h deth;
    mad_h mad;
    cm_ids_h cm_ids;
    cm_req_h cm_req;
    cm_rep_h cm_rep;
    cm_dreq_h cm_dreq;
}

// The transit node sees the underlay only.
struct p_headers_t {
    packet_in_h packet_in;
    packet_out_h packet_out;
    ethernet_h ethernet;
    ipv6_h outer_ipv6;
    srh_h srh;
    srv6_segment_h segment0;
    srv6_segment_h segment1;
    srv6_segment_h segment2;
    srv6_segment_h segment3;
    icmpv6_h icmpv6;
    udp_h outer_udp;
    fast_cnp_h fast_cnp;
}

#endif
