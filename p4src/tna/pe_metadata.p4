#ifndef FCN_TNA_PE_METADATA_P4
#define FCN_TNA_PE_METADATA_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/tna/pass_headers.p4"
#include "../learning/digests.p4"

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
}

struct pe_pass_headers_t {
    bridge_h bridge;
    copy_h copy;
    pe_headers_t pe;
}

#endif
