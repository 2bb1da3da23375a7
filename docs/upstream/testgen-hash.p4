#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}
struct headers_t {
    ethernet_h ethernet;
}
struct meta_t { }

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
    CRCPolynomial<bit<32>>(32w0x04C11DB7, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF) polynomial;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, polynomial) hash;
    apply {
        bit<32> value = hash.get({ hdr.ethernet.dst });
        hdr.ethernet.ether_type = value[15:0];
        for_tm.ucast_egress_port = 1;
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
