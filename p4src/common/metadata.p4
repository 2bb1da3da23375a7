// What the controls tell each other about a packet.
#ifndef FCN_METADATA_P4
#define FCN_METADATA_P4

#include "types.p4"

// Field lists that survive resubmission and recirculation (v1model).
const bit<8> KEEP_FLAT = 1;
const bit<8> KEEP_COPY = 2;

struct meta_t {
    // Set by a shell before a second pass through the parser; see v1model/pe.p4.
    @field_list(KEEP_FLAT)
    bit<1> flat;
    // simple_switch forgets the ingress port of a packet that is parsed again.
    @field_list(KEEP_FLAT)
    port_t ingress_port;
    @field_list(KEEP_COPY)
    Copy copy;
    @field_list(KEEP_COPY)
    flow_label_t copy_label;
    @field_list(KEEP_COPY)
    congestion_level_t copy_level;

    Role role;
    vlan_id_t vlan_id;
    vrf_t vrf;
    Forward forward;
    DropReason drop_reason;
    PuntReason punt_reason;
    port_t egress_port;
    vlan_id_t egress_vlan_id;
    // Octets of a notification made here, Ethernet header included
    bit<32> frame_length;

    // What arrived
    bool parse_failed;
    // The underlay header is no IPv6 header
    bool bad_version;
    bool unsupported_tunnel;
    bool ipv4_checksum_failed;
    // A Fast CNP of the right length with a right UDP checksum
    bool fast_cnp_sound;
    bit<16> udp_dst_port;
    bool is_notification;
    bool is_trusted;
    bool is_local;
    bool is_arp;
    // Neighbour discovery, not within a tunnel
    bool is_nd;
    bool is_end_sid;
    bool is_service_sid;
    bool is_roce_flow;
    TunnelType tunnel_type;
    bit<32> tunnel_id;
    bool is_known_tunnel;

    // The customer packet's fields that lookups and encapsulation need
    Ecn customer_ecn;
    Ecn outer_ecn;
    bit<8> hop_limit;
    bit<8> customer_next_header;
    bit<16> customer_length;
    DropReason customer_fault;
    bool decapsulated;
    // What the packet turned out to be on its way in, counted once
    Event event;

    // What is put around it
    tunnel_t tunnel;
    flow_label_t flow_label;
    bool flow_label_assigned;
    bool flow_watched;
    bit<32> entropy;
    bool encapsulated;
    EcnEncapMode ecn_mode;

    // Notifications
    bool make_cnp;
    flow_label_t notify_label;
    DropReason label_fault;
    bit<1> notify_enabled;
    microseconds_t notify_interval;
    bool cnp_is_ipv4;
    bit<8> cnp_traffic_class;
    bit<8> cnp_ttl;
    bit<16> cnp_udp_src_port;
    bit<16> cnp_ipv4_id;
    ipv6_addr_t fast_cnp_src;
    bit<16> fast_cnp_udp_src_port;
    bit<16> fast_cnp_udp_dst_port;
    bit<8> fast_cnp_traffic_class;
    bit<8> fast_cnp_hop_limit;
    bit<1> fast_cnp_copy_label;

    // Queue state in egress
    congestion_level_t level;
    bit<1> level_marks;
    bit<1> level_notifies;
    microseconds_t level_interval;

    // Flow learning
    bit<1> learning_enabled;
    microseconds_t learning_window;
}

#endif
