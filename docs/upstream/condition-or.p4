#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}
enum bit<8> Kind {
    NONE = 0,
    ONE = 1
}
struct headers_t {
    ethernet_h ethernet;
}
struct meta_t {
    Kind a;
    Kind b;
}

parser IngressParser(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t im) {
    state start {
        packet.extract(im);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        transition accept;
    }
}
control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t im,
        in ingress_intrinsic_metadata_from_parser_t from_parser,
        inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
        inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action set_a(Kind a) {
        meta.a = a;
    }
    action set_b(Kind b) {
        meta.b = b;
    }
    table first {
        key = { hdr.ethernet.src: exact; }
        actions = { set_a; }
    }
    table second {
        key = { hdr.ethernet.dst: exact; }
        actions = { set_b; }
    }
    apply {
        meta.a = Kind.NONE;
        meta.b = Kind.NONE;
        first.apply();
        second.apply();
        if (meta.a != Kind.NONE || meta.b != Kind.NONE) {
            for_tm.ucast_egress_port = 1;
        } else {
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
