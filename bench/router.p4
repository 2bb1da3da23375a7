// A minimal IPv6 router for BMv2, as a reference for the forwarding rate of P.
#include <core.p4>
#include <v1model.p4>

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}

header ipv6_h {
    bit<4> version;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> payload_len;
    bit<8> next_header;
    bit<8> hop_limit;
    bit<128> src;
    bit<128> dst;
}

struct headers_t {
    ethernet_h ethernet;
    ipv6_h ipv6;
}

struct meta_t { }

parser RouterParser(
        packet_in packet,
        out headers_t hdr,
        inout meta_t meta,
        inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x86dd: parse_ipv6;
            default: accept;
        }
    }
    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

control RouterVerifyChecksum(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control RouterIngress(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    action forward(bit<9> port, bit<48> src_mac, bit<48> dst_mac) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src = src_mac;
        hdr.ethernet.dst = dst_mac;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }
    action drop() {
        mark_to_drop(standard_metadata);
    }

    @name(".route")
    table route {
        key = {
            hdr.ipv6.dst: lpm @name("dst");
        }
        actions = {
            @tableonly forward;
            @defaultonly drop;
        }
        const default_action = drop;
        size = 4096;
    }

    apply {
        if (hdr.ipv6.isValid() && hdr.ipv6.hop_limit > 1) {
            route.apply();
        } else {
            drop();
        }
    }
}

control RouterEgress(
        inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control RouterComputeChecksum(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv6);
    }
}

V1Switch(
    RouterParser(), RouterVerifyChecksum(), RouterIngress(), RouterEgress(), RouterComputeChecksum(),
    RouterDeparser()) main;
