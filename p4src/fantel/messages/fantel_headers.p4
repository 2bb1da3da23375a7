// Headers of FANTEL messages behind UDP and over ICMPv6 (FAN-1 to FAN-3), in wire order; docs/packets.md shows them. What a
// PE reads may have any of the parameters, each a header; a P sends those that always come together in one, because BMv2
// pays for each header with every packet.
#ifndef FCN_FANTEL_HEADERS_P4
#define FCN_FANTEL_HEADERS_P4

#include "../../base/types.p4"
#include "../links/link_types.p4"

enum bit<8> FantelType {
    FAILURE = 1,
    FAILURE_CLEARED = 2,
    CONGESTION = 3,
    CONGESTION_CLEARED = 4,
    LOAD = 5
}

// Code: a bit for each parameter, as in the scapy layer; a TLV's type is the number of its bit plus 1.
const bit<8> FANTEL_ORIGIN = 0x01;
const bit<8> FANTEL_PATH = 0x02;
const bit<8> FANTEL_TUPLE = 0x04;
const bit<8> FANTEL_CAUSE = 0x08;
const bit<8> FANTEL_BUFFER = 0x10;
const bit<8> FANTEL_UTILIZATION = 0x20;
const bit<8> FANTEL_LOAD = 0x40;
const bit<8> FANTEL_UNKNOWN = 0x80;

// The first word of each TLV: type, version 0, length
const bit<32> TLV_ORIGIN = 0x01000010;
const bit<32> TLV_PATH = 0x02000004;
const bit<32> TLV_IPV4_TUPLE = 0x03000010;
const bit<32> TLV_IPV6_TUPLE = 0x03000028;
const bit<32> TLV_CAUSE = 0x04000004;
const bit<32> TLV_BUFFER = 0x05000008;
const bit<32> TLV_UTILIZATION = 0x06000004;
const bit<32> TLV_LOAD = 0x07000004;

header fantel_h {
    bit<8> version;
    FantelType type;
    bit<8> code;
    bit<8> reserved;
}

// The same of the form over ICMPv6 (FAN-3), with the header of ICMPv6 (RFC 4443 section 2.1)
const bit<8> FANTEL_ICMPV6_TYPE = 200;
header fantel_icmpv6_h {
    bit<8> icmpv6_type;
    bit<8> code;
    bit<16> checksum;
    FantelType type;
    bit<8> version;
    bit<16> reserved;
}

// Who saw it, where, and in which order
header fantel_origin_h {
    bit<32> tlv;
    bit<32> node;
    bit<32> link;
    bit<32> epoch;
    bit<32> sequence;
}

// A TLV of one word: path ID, failure cause, link utilization, device load
header fantel_word_h {
    bit<32> tlv;
    bit<32> value;
}

// The five-tuple is behind it.
header fantel_tuple_h {
    bit<32> tlv;
}

header fantel_buffer_h {
    bit<32> tlv;
    bit<8> queue;
    bit<8> level;
    bit<16> reserved;
    bit<32> depth;
}

struct fantel_headers_t {
    fantel_icmpv6_h icmpv6;
    fantel_h fantel;
    fantel_origin_h origin;
    fantel_word_h path;
    fantel_tuple_h five_tuple;
    fantel_word_h cause;
    fantel_buffer_h buffer;
    fantel_word_h utilization;
    fantel_word_h load;
}

// What the form over ICMPv6 begins with (RFC 4443 section 2.1)
header icmpv6_h {
    bit<8> type;
    bit<8> code;
    bit<16> checksum;
}

// What each form has next, origin, path. First is behind UDP version, type, code; behind ICMPv6 type, version.
header fantel_path_h {
    bit<32> first_word;
    bit<32> tlv_origin;
    bit<32> node;
    bit<32> link;
    bit<32> epoch;
    bit<32> sequence;
    bit<32> tlv_path;
    path_id_t path_id;
}

header fantel_ipv6_tuple_h {
    bit<32> tlv_tuple;
    bit<4> ip_version;
    flow_label_t label;
    bit<8> protocol;
    ipv6_addr_t src;
    ipv6_addr_t dst;
    bit<16> src_port;
    bit<16> dst_port;
}

// Utilization and load
header fantel_load_h {
    bit<32> tlv_utilization;
    bit<32> utilization;
    bit<32> tlv_load;
    bit<32> load;
}

struct p_fantel_headers_t {
    icmpv6_h icmpv6;
    fantel_path_h about;
    fantel_ipv6_tuple_h five_tuple;
    fantel_word_h cause;
    fantel_buffer_h buffer;
    fantel_load_h load;
}

#endif
