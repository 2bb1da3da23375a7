#ifndef FCN_NEIGHBOR_PARSER_P4
#define FCN_NEIGHBOR_PARSER_P4

#include "../base/pe_headers.p4"

// Sub-parser of a host's request of ARP for IPv4 over Ethernet (RFC 826); anything else of ARP is not extracted and so
// not answered here. Each select is of 32 bits, as many as a chip's parser compares.
parser ArpRequestParser(packet_in packet, inout neighbor_headers_t neighbor) {
    state start {
        transition select(packet.lookahead<bit<32>>()) {
            0x00010800: parse_operation; // Ethernet, IPv4
            default: accept;
        }
    }
    state parse_operation {
        transition select(packet.lookahead<bit<64>>()[31:0]) {
            0x06040001: parse_request; // lengths of the addresses, ArpOperation.REQUEST
            default: accept;
        }
    }
    state parse_request {
        packet.extract(neighbor.arp);
        transition accept;
    }
}

#endif
