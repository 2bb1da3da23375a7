#ifndef FCN_ARN_PARSER_P4
#define FCN_ARN_PARSER_P4

#include "../base/five_tuple.p4"
#include "arn_headers.p4"

// Sub-parser of an ARN behind its UDP header. Of one with unknown parameters or another IP version, what follows is
// not parsed and no parameter is valid.
parser ArnParser(packet_in packet, inout arn_headers_t arn, inout five_tuple_headers_t five_tuple) {
    state start {
        packet.extract(arn.arn);
        transition select(arn.arn.para_type) {
            0 &&& 0xf1: parse_path;
            1 &&& 0xf1: parse_tuple;
            default: accept;
        }
    }
    state parse_tuple {
        packet.extract(five_tuple.head);
        transition select(five_tuple.head.ip_version) {
            4: parse_ipv4;
            6: parse_ipv6;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(five_tuple.ipv4);
        transition parse_ports;
    }
    state parse_ipv6 {
        packet.extract(five_tuple.ipv6);
        transition parse_ports;
    }
    state parse_ports {
        packet.extract(five_tuple.ports);
        transition parse_path;
    }
    state parse_path {
        transition select(arn.arn.para_type[1:1]) {
            1: extract_path;
            default: parse_priority;
        }
    }
    state extract_path {
        packet.extract(arn.path);
        transition parse_priority;
    }
    state parse_priority {
        transition select(arn.arn.para_type[2:2]) {
            1: extract_priority;
            default: parse_time;
        }
    }
    state extract_priority {
        packet.extract(arn.priority);
        transition parse_time;
    }
    state parse_time {
        transition select(arn.arn.para_type[3:3]) {
            1: extract_time;
            default: accept;
        }
    }
    state extract_time {
        packet.extract(arn.time);
        transition accept;
    }
}

#endif
