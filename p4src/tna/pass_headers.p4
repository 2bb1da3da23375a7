// What a packet carries between the passes and pipes of the chip; never on the wire.
#ifndef FCN_PASS_HEADERS_P4
#define FCN_PASS_HEADERS_P4

// The first octet of everything that enters the egress.
enum bit<8> PassType {
    BRIDGE = 1,
    MIRROR = 2
}

// Ingress to egress; v1model carries all metadata over by itself.
header pe_bridge_h {
    PassType pass;
    bit<1> make_cnp;
    bit<1> flow_label_assigned;
    bit<1> notify_enabled;
    bit<1> pad0;
    Ecn customer_ecn;
    bit<2> pad1;
    bit<4> pad2;
    flow_label_t flow_label;
}

header p_bridge_h {
    PassType pass;
    bit<7> pad;
    bit<1> is_notification;
}

// On the egress copy of a packet that met a congested queue, up to the ingress of its second pass.
header copy_h {
    PassType pass;
    bit<3> pad0;
    Copy copy;
    congestion_level_t level;
    bit<4> pad1;
    flow_label_t label;
}

// What the parser saw of a connection manager's message; zeros in any other packet.
struct cm_seen_t {
    bool is_valid;
    bit<16> attribute;
    bit<32> local_comm_id;
    bit<32> remote_comm_id;
    qpn_t qpn;
}

// What a shell needs besides the metadata of the shared controls. A mirror's field list takes fields,
// not constants.
struct tna_meta_t {
    meta_t meta;
    MirrorId_t mirror_session;
    copy_h mirror;
    bool is_arp;
    // UDP ports of the customer's packet, 0 when it has none
    bit<32> ports;
    // What an IPv4 header's options add to its checksum
    bit<16> ipv4_options_sum;
    bit<16> fast_cnp_sum;
    bool is_cnp_ipv6;
    cm_seen_t cm;
}

struct p_pass_headers_t {
    p_bridge_h bridge;
    copy_h copy;
    p_headers_t p;
}

struct pe_pass_headers_t {
    pe_bridge_h bridge;
    copy_h copy;
    pe_headers_t pe;
}

#endif
