// What a packet carries between the passes and pipes of the chip; never on the wire.
#ifndef FCN_PASS_HEADERS_P4
#define FCN_PASS_HEADERS_P4

// The first octet of everything that enters the egress: what the ingress knows of the packet.
enum bit<8> PassType {
    TRAFFIC = 1,
    // PE: ECN-capable, labelled by this node; congestion here concerns its sender
    LABELLED = 2,
    // neither marked nor cause of another
    NOTIFICATION = 3,
    // a copy made in egress
    MIRROR = 4
}

// Ingress to egress; v1model carries all metadata over by itself.
header bridge_h {
    PassType pass;
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
    // UDP ports of the customer's packet, 0 when it has none
    bit<32> ports;
    // What an IPv4 header's options add to its checksum
    bit<16> ipv4_options_sum;
    bit<16> fast_cnp_sum;
    bool is_cnp_ipv6;
    cm_seen_t cm;
    // Between the steps of a shell; they start at zero, which the chip does for nothing.
    bit<32> now;
    // A late reason to drop the packet: TTL, no next segment
    DropReason withheld;
    bit<8> punt_color;
    bit<8> notification_color;
    bit<1> gate_passed;
    bool wanted;
    bool marked;
    bit<32> fingerprint;
    bit<1> digest_is_same;
    bit<1> digest_is_due;
}

struct p_pass_headers_t {
    bridge_h bridge;
    copy_h copy;
    p_headers_t p;
}

struct pe_pass_headers_t {
    bridge_h bridge;
    copy_h copy;
    pe_headers_t pe;
}

#endif
