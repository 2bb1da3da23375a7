#ifndef FCN_SOLICITATION_PARSER_P4
#define FCN_SOLICITATION_PARSER_P4

#include "../../base/v1model/pe.p4"


// A neighbour solicitation that cannot have crossed a router (RFC 4861 section 7.1.1), with no option or with
// one: the sender's MAC address, or the nonce of RFC 7527. Another is not extracted and so not answered here.
parser SolicitationParser(packet_in packet, in ipv6_h ipv6, inout neighbor_headers_t neighbor) {
    state start {
        transition select(ipv6.payload_len) {
            SOLICITATION_LENGTH: choose_without_option;
            SOLICITATION_WITH_OPTION_LENGTH: choose_with_option;
            default: accept;
        }
    }
    // Type and code
    state choose_without_option {
        transition select(packet.lookahead<bit<16>>(), ipv6.hop_limit) {
            (0x8700, 255): parse_solicitation;
            default: accept;
        }
    }
    state parse_solicitation {
        packet.extract(neighbor.nd);
        transition accept;
    }
    state choose_with_option {
        transition select(packet.lookahead<bit<16>>(), ipv6.hop_limit) {
            (0x8700, 255): choose_option;
            default: accept;
        }
    }
    // Type and length of the option, behind the 24 octets of the solicitation
    state choose_option {
        transition select(packet.lookahead<bit<208>>()[15:0]) {
            0x0101: parse_option;
            0x0e01: parse_option;
            default: accept;
        }
    }
    state parse_option {
        packet.extract(neighbor.nd);
        packet.extract(neighbor.nd_option);
        transition accept;
    }
}

#endif
