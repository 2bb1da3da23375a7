// Headers of ARN messages (SRF-5), in wire order; docs/packets.md shows them.
#ifndef FCN_ARN_HEADERS_P4
#define FCN_ARN_HEADERS_P4

#include "../base/types.p4"
#include "flow_control_types.p4"

header arn_h {
    ArnType type;
    bit<4> version;
    bit<4> reserved;
    bit<8> metric;
    bit<8> para_type;
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

// What a hold of a packet would be about whose tunnel ends here (held_traffic_t). Never on the wire.
header held_name_h {
    bit<4> ip_version;
    flow_label_t label;
    bit<8> protocol;
    ipv6_addr_t src;
    ipv6_addr_t dst;
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> priority;
}

// The five-tuple is between the first two.
struct arn_headers_t {
    arn_h arn;
    arn_path_h path;
    arn_priority_h priority;
    arn_time_h time;
}

#endif
