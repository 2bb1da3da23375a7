// What the controls of the provider edge tell each other about a packet.
#ifndef FCN_PE_METADATA_P4
#define FCN_PE_METADATA_P4

#include "metadata.p4"
#include "../flow_control/flow_control_types.p4"

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

// What is done with a flow whose path is lightly congested.
enum bit<2> FlowTreatment {
    NONE = 0,
    SLOW = 1,
    REROUTE = 2
}

// Time between packets of a flow in units of 1/65536 microsecond: packets of 100 Gb/s are nanoseconds apart.
typedef bit<48> flow_interval_t;

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
    flow_control_meta_t flow_control;
    // Set by the BMv2 program before a second pass through the parser; see v1model/pe_parser.p4.
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

    // Light congestion (PEC-3): how long a flow is treated after it was told of, 0 where it is not treated
    microseconds_t light_hold;
    // Its path is congested: the sender hears of it if it did not for so long (FAN-6). 0: not.
    microseconds_t path_cnp_interval;
    bit<8> path_cnp_policy;
    // This packet told of it, and has done its work.
    bool light_told;
    FlowTreatment treatment;
    flow_interval_t slow_interval;
    flow_interval_t slow_tolerance;

    // Flow learning
    bit<1> learning_enabled;
    microseconds_t learning_window;
}

#endif
