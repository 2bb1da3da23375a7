#ifndef FCN_TNA_P_METADATA_P4
#define FCN_TNA_P_METADATA_P4

// What a top-level control needs besides the metadata of the shared controls. A mirror's field list takes
// fields, not constants. What is between the steps of a control starts at zero, which costs the chip nothing.
struct tna_p_meta_t {
    p_meta_t meta;
    MirrorId_t mirror_session;
    copy_h mirror;
    // 0 when the packet is not UDP over IPv6
    bit<16> udp_dst_port;
    bit<32> now;
    color_t punt_color;
    color_t notification_color;
    bit<1> gate_passed;
    bool wanted;
    // A late reason to drop the packet: no next segment
    DropReason withheld;
    bool marked;
#if HAS_FLOW_CONTROL
    // UDP ports behind the underlay's header, 0 when it has none
    bit<32> ports;
    bool asks;
    bool relieves;
    bit<1> arn_passed;
#endif
}

struct p_pass_headers_t {
    bridge_h bridge;
    copy_h copy;
#if HAS_FLOW_CONTROL
    arrival_h arrival;
#endif
    p_headers_t p;
}

#endif
