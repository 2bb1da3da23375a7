// Sub-parsers of the underlay's headers that every program parses.
#ifndef FCN_SRV6_PARSER_P4
#define FCN_SRV6_PARSER_P4

#include "../base/headers.p4"

// An SRH of up to four segments and no TLV. Of another only the fixed part is extracted and the segments
// stay invalid: transit does not need them, an End SID refuses it.
parser SrhParser(packet_in packet, inout srv6_headers_t srv6) {
    state start {
        packet.extract(srv6.srh);
        transition select(srv6.srh.routing_type, srv6.srh.hdr_ext_len, srv6.srh.last_entry) {
            (4, 2, 0): parse_one_segment;
            (4, 4, 1): parse_two_segments;
            (4, 6, 2): parse_three_segments;
            (4, 8, 3): parse_four_segments;
            default: accept;
        }
    }
    state parse_one_segment {
        packet.extract(srv6.segment0);
        transition accept;
    }
    state parse_two_segments {
        packet.extract(srv6.segment0);
        packet.extract(srv6.segment1);
        transition accept;
    }
    state parse_three_segments {
        packet.extract(srv6.segment0);
        packet.extract(srv6.segment1);
        packet.extract(srv6.segment2);
        transition accept;
    }
    state parse_four_segments {
        packet.extract(srv6.segment0);
        packet.extract(srv6.segment1);
        packet.extract(srv6.segment2);
        packet.extract(srv6.segment3);
        transition accept;
    }
}

// Neighbour discovery: ICMPv6 types 133 to 137 that cannot have crossed a router (RFC 4861 section 6.1).
parser NeighborDiscoveryParser(packet_in packet, inout ipv6_h ipv6, inout bool is_nd) {
    state start {
        transition select(packet.lookahead<bit<8>>(), ipv6.hop_limit) {
            (133, 255): neighbor_discovery;
            (134 &&& 0xfe, 255): neighbor_discovery;
            (136 &&& 0xfe, 255): neighbor_discovery;
            default: accept;
        }
    }
    state neighbor_discovery {
        is_nd = true;
        transition accept;
    }
}

#endif
