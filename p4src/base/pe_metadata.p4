// What the controls of the provider edge tell each other about a packet.
#ifndef FCN_PE_METADATA_P4
#define FCN_PE_METADATA_P4

#include "metadata.p4"
#include "../fantel/fantel_types.p4"
#include "../flow_control/flow_control_types.p4"
#include "../two_threshold/two_threshold_types.p4"

// Which of the small tables decides about a packet; see packet_class.p4.
enum bit<3> PacketClass {
    NONE = 0,
    // The copy of a packet that was in a congested queue here
    OWN_CONGESTION = 1,
    CUSTOMER = 2,
    // From a core port, and neither of the next two
    WAN = 3,
    NOTIFICATION = 4,
    TUNNEL_END = 5
}

// A message of the connection manager, as the parser found it; zeros in any other packet.
struct cm_meta_t {
    bool is_valid;
    // The last 7 bits of a CmAttribute: no others are used.
    bit<7> attribute;
    bit<32> local_comm_id;
    bit<32> remote_comm_id;
    qpn_t qpn;
}

struct pe_meta_t {
    base_meta_t base;
    two_threshold_meta_t two_threshold;
    flow_control_meta_t flow_control;
    fantel_meta_t fantel;
    // Set by the BMv2 program before a second pass through the parser; see v1model/pe/parser.p4.
    @field_list(KEEP_FLAT)
    bit<1> flat;

    // How it arrived
    PacketClass packet_class;
    bool parse_failed;
    bool unsupported_tunnel;
    bool ipv4_checksum_failed;
    // A Fast CNP of the right length with a right UDP checksum, or a CNP to an END.CON SID
    bool notification_sound;
    bool is_trusted;
    // A neighbour solicitation with a right checksum
    bool solicitation_sound;
    // This packet is the answer to a request for a gateway's MAC address.
    bool answered;
    TunnelType tunnel_type;
    bit<32> tunnel_id;
    bool is_known_tunnel;
    cm_meta_t cm;

    // The customer packet's fields that lookups and encapsulation need
    bool is_roce_flow;
    @field_list(KEEP_PARKED)
    Ecn customer_ecn;
    Ecn outer_ecn;
    bit<8> hop_limit;
    bit<8> customer_next_header;
    bit<16> customer_length;
    DropReason customer_fault;
    bool decapsulated;
    // Counted once
    Event event;
    vlan_id_t egress_vlan_id;

    // What is put around it
    tunnel_t tunnel;
    @field_list(KEEP_PARKED)
    flow_label_t flow_label;
    @field_list(KEEP_PARKED)
    bool flow_label_assigned;
    bool flow_watched;
    bit<32> entropy;
    bool encapsulated;
    EcnEncapMode ecn_mode;

    // The CNP that takes the packet's place
    bool make_cnp;
    flow_label_t notify_label;
    // Whose the END.CON SID is
    vrf_t end_con_vrf;
    DropReason label_fault;
    bool cnp_is_ipv4;

    // Why else the sender is told, besides the queue's level: if he was not for so long. 0: for no other reason
    microseconds_t tell_interval;
    // The copy is for the sender for such a reason.
    @field_list(KEEP_COPY)
    bit<1> copy_insists;

    // Flow learning
    bit<1> learning_enabled;
    interval_t learning_window;
}

#endif
