#ifndef FCN_TNA_PE_METADATA_P4
#define FCN_TNA_PE_METADATA_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/tna/pass_headers.p4"
#include "../learning/digests.p4"

// The one word of a notification's pseudo-header the parser cannot sum up, the protocol: what is left when
// everything else has been subtracted from a right checksum.
const bit<16> UDP_PROTOCOL = 17;
// Likewise of a neighbour solicitation
const bit<16> ICMPV6_PROTOCOL = 58;

#if HAS_FLOW_CONTROL
// Behind the bridge: how often the sender of the packet can be asked to send less, 0 when he cannot; and whether a neighbour
// wants less of the packet's tunnel.
header asked_h {
    bit<1> is_held;
    bit<7> pad;
    bit<24> interval;
}
#define ASKED_LENGTH 4
#define IS_ARN(meta) \
    ((meta).packet_class == PacketClass.NOTIFICATION && (meta).base.notification_kind == NotificationKind.ARN)
#else
#define ASKED_LENGTH 0
#define IS_ARN(meta) false
#endif

// What a top-level control needs besides the metadata of the shared controls. A mirror's field list takes
// fields, not constants. What is between the steps of a control starts at zero, which costs the chip nothing.
struct tna_pe_meta_t {
    pe_meta_t meta;
    MirrorId_t mirror_session;
    copy_h mirror;
    // 0 when the packet is not UDP over IPv6
    bit<16> udp_dst_port;
    // UDP ports of the customer's packet, 0 when it has none
    bit<32> ports;
    // What an IPv4 header's options add to its checksum; 1 where a header without options has a wrong one
    bit<16> ipv4_options_sum;
    // What the parser found of the checksum of a Fast CNP or a neighbour solicitation
    bit<16> parser_sum;
    bool is_cnp_ipv6;
    // The answer to a neighbour solicitation
    bool is_advertisement;
    bit<32> now;
    // A late reason to drop the packet: TTL, no next segment
    DropReason withheld;
    color_t punt_color;
    color_t report_color;
    color_t notification_color;
    bit<1> gate_passed;
    bool wanted;
    bool marked;
    bit<32> fingerprint;
    attribute_and_port_t attribute_and_port;
    bit<1> digest_is_same;
    bit<1> digest_is_due;
#if HAS_FLOW_CONTROL
    bit<16> hold_cell;
    // Of a packet in a tunnel: service_protocol(), and UDP ports
    bit<8> hold_protocol;
    bit<32> hold_ports;
    // Of an ARN: until when it asks for less
    bit<32> hold_end;
#endif
}

struct pe_pass_headers_t {
    bridge_h bridge;
#if HAS_FLOW_CONTROL
    asked_h asked;
#endif
    copy_h copy;
    pe_headers_t pe;
}

#endif
