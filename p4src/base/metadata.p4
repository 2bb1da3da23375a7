// What the controls of every program tell each other about a packet; what concerns one mode is in its folder.
#ifndef FCN_METADATA_P4
#define FCN_METADATA_P4

#include "types.p4"

// Field lists that survive resubmission and recirculation (v1model): of a packet that is parsed again, of a copy that
// becomes a message, of a packet that waits here, and of the clock packet.
const bit<8> KEEP_FLAT = 1;
const bit<8> KEEP_COPY = 2;
const bit<8> KEEP_PARKED = 3;
const bit<8> KEEP_CLOCK = 4;

// What this node does in the domain's mode; DomainMode sets it.
struct domain_mode_t {
    // What a congested queue here sends, NONE when nothing (FCN-16)
    NotificationKind congestion_kind;
    // Which notifications for this node become a CNP, NONE when none do (FCN-13, SRF-4, FCN-16)
    NotificationKind translates;
}

struct base_meta_t {
    // simple_switch forgets the ingress port of a packet that is parsed again.
    @field_list(KEEP_FLAT)
    port_t ingress_port;
    // When it came; of a copy, when it was made (v1model: microseconds; a later pass has no such time of its own)
    @field_list(KEEP_FLAT, KEEP_COPY, KEEP_PARKED, KEEP_CLOCK)
    instant_t now;
    @field_list(KEEP_FLAT, KEEP_PARKED)
    ParseMore parse_more;
    // Set on the egress copy of a packet in a congested queue, which is processed a second time: what the
    // copy is to become, the flow's label, and the queue's level.
    @field_list(KEEP_COPY)
    NotificationKind copy_kind;
    @field_list(KEEP_COPY)
    flow_label_t copy_label;
    @field_list(KEEP_COPY)
    congestion_level_t copy_level;
    // The underlay destination it came with, for messages about it behind this node's own SID
    @field_list(KEEP_PARKED, KEEP_COPY)
    ipv6_addr_t arrived_dst;
    // A packet that waits in this node
    @field_list(KEEP_PARKED)
    bit<1> is_parked;

    // How it arrived
    Role role;
    vlan_id_t vlan_id;
    vrf_t vrf;
    // To the port's own MAC address, not to a group
    bool is_addressed;
    // The underlay header is no sound IPv6 header.
    bool is_malformed;
    bool is_arp;
    // Neighbour discovery, not within a tunnel
    bool is_nd;
    NotificationKind notification_kind;
    Destination destination;

    // What becomes of it
    // Made or parked here: where it goes is known.
    bool is_settled;
    // It was for this node and is used up.
    bool is_done;
    Forward forward;
    DropReason drop_reason;
    PuntReason punt_reason;
    port_t egress_port;

    domain_mode_t mode;

    // Queue state in egress
    congestion_level_t level;
    Ecn level_mark;
    bit<1> level_notifies;
    past_interval_t level_interval;

    // Behind the queue: it does not leave by a wire.
    bool stays;
    // What the sender or its PE is to get, and what the upstream neighbour
    NotificationKind tells;
    NotificationKind asks;
}

#endif
