// Headers of every program, in wire order; those of a mode are in its folder.
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

// RFC 826, for IPv4 over Ethernet
header arp_h {
    bit<16> hardware_type;
    bit<16> protocol_type;
    bit<8> hardware_length;
    bit<8> protocol_length;
    ArpOperation operation;
    mac_addr_t sender_mac;
    ipv4_addr_t sender;
    mac_addr_t target_mac;
    ipv4_addr_t target;
}

// RFC 4861 sections 4.3 and 4.4: router(1) solicited(1) override(1) reserved(29) of an advertisement are
// reserved in a solicitation.
header nd_h {
    NdType type;
    bit<8> code;
    bit<16> checksum;
    bit<32> flags;
    ipv6_addr_t target;
}

// RFC 4861 section 4.6.1; length in units of 8 octets
header nd_option_h {
    NdOption type;
    bit<8> length;
    mac_addr_t mac;
}

// Fast CNP word: FlowLabel(20) CL(3) Rvd(9) (FCN-9). One field: no part but the whole word is of
// whole octets.
header fast_cnp_h {
    bit<32> word;
}

// IBTA volume 1, chapter 9.2: BTH
header bth_h {
    bit<8> opcode; // BthOpcode, where this project knows it
    bit<1> solicited_event;
    bit<1> migration_request;
    bit<2> pad_count;
    bit<4> transport_version;
    bit<16> p_key;
    bit<1> fecn;
    bit<1> becn;
    bit<6> reserved1;
    qpn_t dest_qp;
    bit<1> ack_request;
    bit<7> reserved2;
    psn_t psn;
}
// What is the same in every CNP (IBTA annex A17.9.3); BECN as real NICs send it
#define SET_CNP_BTH(bth)            \
    bth.opcode = BthOpcode.CNP;     \
    bth.solicited_event = 0;        \
    bth.migration_request = 0;      \
    bth.pad_count = 0;              \
    bth.transport_version = 0;      \
    bth.fecn = 0;                   \
    bth.becn = 1;                   \
    bth.reserved1 = 0;              \
    bth.ack_request = 0;            \
    bth.reserved2 = 0;              \
    bth.psn = 0;

// What is behind the BTH of a CNP (IBTA annex A17.9.3)
header cnp_payload_h {
    bit<128> reserved;
    bit<32> icrc;
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

// An SRH with its segment list of 1 to 4 SIDs
struct srv6_headers_t {
    srh_h srh;
    srv6_segment_h segment0;
    srv6_segment_h segment1;
    srv6_segment_h segment2;
    srv6_segment_h segment3;
}
// Macros, as p4c copies all headers that an action has for a parameter
#define REMOVE_SRH(srv6)          \
    srv6.srh.setInvalid();        \
    srv6.segment0.setInvalid();   \
    srv6.segment1.setInvalid();   \
    srv6.segment2.setInvalid();   \
    srv6.segment3.setInvalid();

// The neighbour behind a port, to whom a message goes. Never on the wire: BMv2 clears metadata for every packet, but not
// the fields of headers.
header envelope_h {
    mac_addr_t src_mac;
    mac_addr_t dst_mac;
    ipv6_addr_t src;
    ipv6_addr_t dst;
}

// The ingress PE of a packet whose tunnel ends here, or its END.CON SID, and the flow's label (FCN-18). Never on the wire.
header ingress_pe_h {
    ipv6_addr_t address;
    flow_label_t label;
    bit<4> pad;
}

// What is between the underlay's IPv6 header and the customer's packet, but for SRv6
struct tunnel_headers_t {
    gre_h gre;
    gre_key_h gre_key;
    udp_h udp;
    vxlan_h vxlan;
    mpls_h mpls0;
    mpls_h mpls1;
    ethernet_h inner_ethernet;
}
#define REMOVE_TUNNEL(tunnel)             \
    tunnel.gre.setInvalid();              \
    tunnel.gre_key.setInvalid();          \
    tunnel.udp.setInvalid();              \
    tunnel.vxlan.setInvalid();            \
    tunnel.mpls0.setInvalid();            \
    tunnel.mpls1.setInvalid();            \
    tunnel.inner_ethernet.setInvalid();

#endif
