// Sub-parsers of the tunnel headers. Behind each, the program's parser goes on with the customer's packet;
// the contents of an unsupported tunnel are not looked at, whatever it then finds.
#ifndef FCN_TUNNEL_PARSER_P4
#define FCN_TUNNEL_PARSER_P4

#include "../base/headers.p4"

// RFC 2784 with or without the key of RFC 2890
parser GreParser(
        packet_in packet, inout tunnel_headers_t tunnel, inout bit<32> tunnel_id,
        inout bool unsupported) {
    state start {
        packet.extract(tunnel.gre);
        transition select(tunnel.gre.flags) {
            0x0000: accept;
            0x2000: parse_key;
            default: unsupported_flags;
        }
    }
    state parse_key {
        packet.extract(tunnel.gre_key);
        tunnel_id = tunnel.gre_key.key;
        transition accept;
    }
    state unsupported_flags {
        unsupported = true;
        transition accept;
    }
}

// RFC 7348: the VNI must be valid (flag I).
parser VxlanParser(
        packet_in packet, inout tunnel_headers_t tunnel, inout bit<32> tunnel_id,
        inout bool unsupported) {
    state start {
        packet.extract(tunnel.vxlan);
        tunnel_id = 8w0 ++ tunnel.vxlan.vni;
        transition select(tunnel.vxlan.flags) {
            0x08 &&& 0x08: parse_inner_ethernet;
            default: unsupported_flags;
        }
    }
    state unsupported_flags {
        unsupported = true;
        transition parse_inner_ethernet;
    }
    state parse_inner_ethernet {
        packet.extract(tunnel.inner_ethernet);
        transition accept;
    }
}

// RFC 7510: the VPN label alone, or behind one SR label. TunnelVrf takes the label from the headers:
// it begins within an octet, and Tofino's parser moves octets.
parser MplsParser(packet_in packet, inout tunnel_headers_t tunnel, inout bool unsupported) {
    state start {
        packet.extract(tunnel.mpls0);
        transition select(tunnel.mpls0.bottom_of_stack) {
            1: accept;
            default: parse_second_label;
        }
    }
    state parse_second_label {
        packet.extract(tunnel.mpls1);
        transition select(tunnel.mpls1.bottom_of_stack) {
            1: accept;
            default: unsupported_stack;
        }
    }
    state unsupported_stack {
        unsupported = true;
        transition accept;
    }
}

#endif
