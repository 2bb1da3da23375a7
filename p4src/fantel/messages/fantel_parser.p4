#ifndef FCN_FANTEL_PARSER_P4
#define FCN_FANTEL_PARSER_P4

#include "../../base/five_tuple.p4"
#include "fantel_headers.p4"

// Sub-parser of the parameters of a FANTEL message, behind what the forms over UDP and ICMPv6 begin with (FAN-8). Where a
// TLV is not the one that Code says comes next, what follows is not parsed, and no header of it is valid.
parser FantelParser(
        packet_in packet, in bit<8> version, in bit<8> code, inout fantel_headers_t fantel,
        inout five_tuple_headers_t five_tuple) {
    state start {
        transition select(version, code & (FANTEL_ORIGIN | FANTEL_UNKNOWN)) {
            (0, FANTEL_ORIGIN): parse_origin;
            default: accept;
        }
    }
    state parse_origin {
        transition select(packet.lookahead<bit<32>>()) {
            TLV_ORIGIN: extract_origin;
            default: accept;
        }
    }
    state extract_origin {
        packet.extract(fantel.origin);
        transition select(code[1:1]) {
            1: parse_path;
            default: parse_tuple;
        }
    }
    state parse_path {
        transition select(packet.lookahead<bit<32>>()) {
            TLV_PATH: extract_path;
            default: accept;
        }
    }
    state extract_path {
        packet.extract(fantel.path);
        transition parse_tuple;
    }
    state parse_tuple {
        transition select(code[2:2]) {
            1: choose_tuple;
            default: parse_cause;
        }
    }
    state choose_tuple {
        transition select(packet.lookahead<bit<36>>()) {
            TLV_IPV4_TUPLE ++ 4w4: extract_ipv4_tuple;
            TLV_IPV6_TUPLE ++ 4w6: extract_ipv6_tuple;
            default: accept;
        }
    }
    state extract_ipv4_tuple {
        packet.extract(fantel.five_tuple);
        packet.extract(five_tuple.head);
        packet.extract(five_tuple.ipv4);
        packet.extract(five_tuple.ports);
        transition parse_cause;
    }
    state extract_ipv6_tuple {
        packet.extract(fantel.five_tuple);
        packet.extract(five_tuple.head);
        packet.extract(five_tuple.ipv6);
        packet.extract(five_tuple.ports);
        transition parse_cause;
    }
    state parse_cause {
        transition select(code[3:3]) {
            1: choose_cause;
            default: parse_buffer;
        }
    }
    state choose_cause {
        transition select(packet.lookahead<bit<32>>()) {
            TLV_CAUSE: extract_cause;
            default: accept;
        }
    }
    state extract_cause {
        packet.extract(fantel.cause);
        transition parse_buffer;
    }
    state parse_buffer {
        transition select(code[4:4]) {
            1: choose_buffer;
            default: parse_utilization;
        }
    }
    state choose_buffer {
        transition select(packet.lookahead<bit<32>>()) {
            TLV_BUFFER: extract_buffer;
            default: accept;
        }
    }
    state extract_buffer {
        packet.extract(fantel.buffer);
        transition parse_utilization;
    }
    state parse_utilization {
        transition select(code[5:5]) {
            1: choose_utilization;
            default: parse_load;
        }
    }
    state choose_utilization {
        transition select(packet.lookahead<bit<32>>()) {
            TLV_UTILIZATION: extract_utilization;
            default: accept;
        }
    }
    state extract_utilization {
        packet.extract(fantel.utilization);
        transition parse_load;
    }
    state parse_load {
        transition select(code[6:6]) {
            1: choose_load;
            default: accept;
        }
    }
    state choose_load {
        transition select(packet.lookahead<bit<32>>()) {
            TLV_LOAD: extract_load;
            default: accept;
        }
    }
    state extract_load {
        packet.extract(fantel.load);
        transition accept;
    }
}

#endif
