// What the data plane reports to the controller; at most 47 octets each, of which a chip gives every field whole ones
// (Tofino's limit).
// port: where the packet came from, which says whose it is: hosts of one VRF are told apart by it.
#ifndef FCN_DIGESTS_P4
#define FCN_DIGESTS_P4

#include "../base/types.p4"

// A packet of a flow that has no label yet, or whose source QP is still looked for. BTH opcode, PSN and
// UDP source port let the controller find the reverse path (FCN-3 b).
struct new_flow_ipv4_t {
    vrf_t vrf;
    ipv4_addr_t src;
    ipv4_addr_t dst;
    qpn_t dest_qp;
    bit<16> p_key;
    psn_t psn;
    bit<16> udp_src_port;
    bit<8> opcode;
    port_t port;
}

struct new_flow_ipv6_t {
    vrf_t vrf;
    ipv6_addr_t src;
    ipv6_addr_t dst;
    qpn_t dest_qp;
    bit<16> p_key;
    psn_t psn;
    bit<16> udp_src_port;
    bit<8> opcode;
    port_t port;
}

// The last 7 bits of a CmAttribute, of which no more are used, and the port: one field, because a chip rounds each up.
typedef bit<16> attribute_and_port_t;

// A message of the connection manager. qpn: the local QPN of a REQ or REP, the remote QPN of a DREQ,
// else 0. remote_comm_id: 0 in a REQ.
struct cm_ipv4_t {
    vrf_t vrf;
    ipv4_addr_t src;
    ipv4_addr_t dst;
    bit<32> local_comm_id;
    bit<32> remote_comm_id;
    qpn_t qpn;
    attribute_and_port_t attribute_and_port;
}

struct cm_ipv6_t {
    vrf_t vrf;
    ipv6_addr_t src;
    ipv6_addr_t dst;
    bit<32> local_comm_id;
    bit<32> remote_comm_id;
    qpn_t qpn;
    attribute_and_port_t attribute_and_port;
}

// A host that asked for its gateway, and what it said of itself: address 0.0.0.0 or ff02::1 when it only
// tries whether an address is free.
struct neighbor_ipv4_t {
    port_t port;
    vlan_id_t vlan_id;
    ipv4_addr_t address;
    mac_addr_t mac;
}

struct neighbor_ipv6_t {
    port_t port;
    vlan_id_t vlan_id;
    ipv6_addr_t address;
    mac_addr_t mac;
}

#endif
