#ifndef FCN_TNA_P_METADATA_P4
#define FCN_TNA_P_METADATA_P4

#if HAS_FANTEL
#include "../fantel/tna/links/links_metadata.p4"
#endif

// What a top-level control needs besides the metadata of the shared controls. A mirror's field list takes
// fields, not constants. What is between the steps of a control starts at zero, which costs the chip nothing.
struct tna_p_meta_t {
    p_meta_t meta;
    MirrorId_t mirror_session;
    copy_h mirror;
    // 0 when the packet is not UDP over IPv6
    bit<16> udp_dst_port;
    color_t punt_color;
    color_t notification_color;
    bit<1> gate_passed;
    bool wanted;
    // A late reason to drop the packet: no next segment
    DropReason withheld;
    bool marked;
#if HAS_ARRIVAL
    // UDP ports behind the underlay's header, 0 when it has none
    bit<32> ports;
    // There is something to say besides a Fast CNP, and whether it is time
    bool asks;
    bit<1> passed;
#endif
#if HAS_FLOW_CONTROL
    bool relieves;
#endif
#if HAS_FANTEL
    links_meta_t links;
#endif
}

struct p_pass_headers_t {
    bridge_h bridge;
    copy_h copy;
#if HAS_ARRIVAL
    arrival_h arrival;
#endif
#if HAS_FANTEL
    subject_h subject;
    arrival_dst_h arrival_dst;
    arrival_ports_h arrival_ports;
    clock_pass_h clock;
    // In a message: TLV of a five-tuple, or of a cause; the tuple's source
    fantel_tuple_h tuple_tlv;
    tuple_src_h tuple_src;
#endif
    p_headers_t p;
}

// FCN-8: an ECN-capable packet with an FCN label that is no notification itself
#define FCN_PACKET(hdr) \
    hdr.bridge.pass == PassType.TRAFFIC && hdr.p.outer_ipv6.isValid() && hdr.p.outer_ipv6.ecn != Ecn.NOT_ECT \
        && hdr.p.outer_ipv6.flow_label & FCN_LABEL_BIT != 0

// A packet has one copy, and what the upstream neighbour is asked goes first.
#if HAS_FLOW_CONTROL
#define ASKED(md) (md.passed == 1)
#else
#define ASKED(md) false
#endif

// Modes in which the sender of the flow hears of it; the clock's packet; the depth of the queue, on a copy
#if HAS_FANTEL
#define BY_FLOW(kind) (kind) == NotificationKind.FAST_CNP
#define IS_CLOCK(hdr) hdr.clock.isValid()
#define QUEUE_DEPTH(md) md.mirror.label
#else
#define BY_FLOW(kind) (kind) != NotificationKind.NONE
#define IS_CLOCK(hdr) false
#define QUEUE_DEPTH(md) 0
#endif

#endif
