#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}
header ipv4_h {
    bit<72> before_protocol;
    bit<8> protocol;
    bit<80> after_protocol;
}
header ipv6_h {
    bit<320> all;
}
struct headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    ipv6_h ipv6;
}
struct meta_t { }

parser IngressParser(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t im) {
    state start {
        packet.extract(im);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            0x86dd: parse_ipv6;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}
control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t im,
        in ingress_intrinsic_metadata_from_parser_t from_parser,
        inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
        inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    apply {
        if (hdr.ipv4.isValid()) {
            for_tm.ucast_egress_port = 1;
        } else if (hdr.ipv6.isValid()) {
            for_tm.ucast_egress_port = 2;
        }
    }
}
control IngressDeparser(packet_out packet, inout headers_t hdr, in meta_t meta,
        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr);
    }
}
parser EgressParser(packet_in packet, out headers_t hdr, out meta_t meta, out egress_intrinsic_metadata_t im) {
    state start {
        packet.extract(im);
        transition accept;
    }
}
control Egress(inout headers_t hdr, inout meta_t meta, in egress_intrinsic_metadata_t im,
        in egress_intrinsic_metadata_from_parser_t from_parser,
        inout egress_intrinsic_metadata_for_deparser_t for_deparser,
        inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply { }
}
control EgressDeparser(packet_out packet, inout headers_t hdr, in meta_t meta,
        in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
