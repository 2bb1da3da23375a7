// Headers of ARN messages (SRF-5), in wire order; docs/packets.md shows them.
#ifndef FCN_ARN_HEADERS_P4
#define FCN_ARN_HEADERS_P4

#include "../base/headers.p4"
#include "flow_control_types.p4"

header arn_h {
    ArnType type;
    bit<4> version;
    bit<4> reserved;
    bit<8> metric;
    bit<8> para_type;
}

header arn_tuple_h {
    bit<4> ip_version;
    flow_label_t label;
    bit<8> protocol;
}

header arn_ipv4_h {
    ipv4_addr_t src;
    ipv4_addr_t dst;
}

header arn_ipv6_h {
    ipv6_addr_t src;
    ipv6_addr_t dst;
}

header arn_ports_h {
    bit<16> src_port;
    bit<16> dst_port;
}

header arn_path_h {
    bit<32> path_id;
}

header arn_priority_h {
    bit<32> priority;
}

header arn_time_h {
    microseconds_t time;
}

// The neighbour an ARN goes to; ArnUpstream sets it. Never on the wire: BMv2 clears metadata for every packet, but not
// the fields of headers.
header arn_envelope_h {
    mac_addr_t src_mac;
    mac_addr_t dst_mac;
    ipv6_addr_t src;
    ipv6_addr_t dst;
}

// IEEE 802.1Qbb: a MAC control frame with a vector of priorities and a time for each, in quanta of 512 bit times,
// padded to the shortest frame
const bit<16> PFC_OPCODE = 0x0101;
const mac_addr_t PAUSE_MAC = 0x0180c2000001;
const bit<32> PAUSE_FRAME_LENGTH = 60;
header pause_h {
    bit<16> opcode;
    bit<16> vector;
    bit<16> time0;
    bit<16> time1;
    bit<16> time2;
    bit<16> time3;
    bit<16> time4;
    bit<16> time5;
    bit<16> time6;
    bit<16> time7;
    bit<208> pad;
}

struct arn_headers_t {
    arn_h arn;
    arn_tuple_h five_tuple;
    arn_ipv4_h ipv4;
    arn_ipv6_h ipv6;
    arn_ports_h ports;
    arn_path_h path;
    arn_priority_h priority;
    arn_time_h time;
}

#endif
