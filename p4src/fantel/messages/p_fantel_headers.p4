// Headers of the FANTEL messages that a transit node sends, in wire order: the parameters of one message in few
// headers, because BMv2 pays for each with every packet.
#ifndef FCN_P_FANTEL_HEADERS_P4
#define FCN_P_FANTEL_HEADERS_P4

#include "../../base/types.p4"
#include "../links/link_types.p4"

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

header fantel_cause_h {
    bit<32> tlv_cause;
    FailureCause cause;
    bit<24> reserved;
}

header fantel_queue_h {
    bit<32> tlv_buffer;
    bit<8> queue;
    bit<8> level;
    bit<16> reserved;
    bit<32> depth;
}

header fantel_load_h {
    bit<32> tlv_utilization;
    bit<16> utilization;
    bit<16> reserved;
    bit<32> tlv_load;
    bit<16> load;
    bit<16> reserved_too;
}

struct p_fantel_headers_t {
    icmpv6_h icmpv6;
    fantel_path_h about;
    fantel_ipv6_tuple_h five_tuple;
    fantel_cause_h cause;
    fantel_queue_h queue;
    fantel_load_h load;
}

#endif
