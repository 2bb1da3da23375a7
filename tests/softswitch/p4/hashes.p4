// All hash algorithms, and checksums with and without payload.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header in_t { bit<32> a; bit<20> b; bit<4> c; bit<128> d; bit<7> e; bit<1> f; bit<48> base; }
header out_t { bit<32> crc32; bit<16> crc16; bit<16> csum; bit<16> xor; bit<64> identity; bit<32> ranged; bit<32> whole; bit<32> odd; bit<16> custom16; bit<32> custom32; }
header sum_t { bit<16> part; bit<16> all; bit<8> bad; }
struct headers_t { ethernet_t eth; in_t i; out_t o; sum_t s; }
struct meta_t { bit<5> odd; bit<3> odder; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(h.eth);
        pkt.extract(h.i);
        transition select(h.i.f) { 1: sum; default: accept; }
    }
    state sum { pkt.extract(h.s); transition accept; }
}
control V(inout headers_t h, inout meta_t m) {
    apply {
        verify_checksum(h.s.isValid(), { h.i.a, h.i.b, h.i.c, h.s.bad }, h.s.part, HashAlgorithm.csum16);
        verify_checksum_with_payload(h.s.isValid() && h.i.e == 1, { h.i.a, h.i.d }, h.s.all, HashAlgorithm.crc16);
    }
}
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        if (!h.i.isValid()) { return; }
        m.odd = h.i.e[4:0];
        m.odder = h.i.c[2:0];
        h.o.setValid();
        hash(h.o.crc32, HashAlgorithm.crc32, 32w0, { h.i.a, h.i.b, h.i.c, h.i.d }, 64w0x100000000);
        hash(h.o.crc16, HashAlgorithm.crc16, 16w0, { h.i.d, 8w5, h.eth.src }, 32w65536);
        hash(h.o.csum, HashAlgorithm.csum16, 16w0, { h.i.a, h.i.d, h.i.b, h.i.c, h.i.e, h.i.f }, 32w65536);
        hash(h.o.xor, HashAlgorithm.xor16, 16w0, { h.i.a, h.i.b, h.i.c }, 32w65536);
        hash(h.o.identity, HashAlgorithm.identity, 64w0, { h.eth.src, h.i.b, h.i.c, h.i.a }, 128w0x10000000000000000);
        hash(h.o.ranged, HashAlgorithm.crc32, h.i.a, { h.i.a, h.eth.dst }, 32w1000);
        if (h.s.isValid()) { hash(h.o.whole, HashAlgorithm.crc32, 32w0, { h.eth.dst, h.eth.src, h.s.part, h.eth.type }, 64w0x100000000); }
        hash(h.o.odd, HashAlgorithm.crc32, 32w0, { m.odd, h.i.b, m.odder }, 64w0x100000000);
        hash(h.o.custom16, HashAlgorithm.crc16_custom, 16w0, { h.i.d, h.i.a }, 32w65536);
        hash(h.o.custom32, HashAlgorithm.crc32_custom, 32w0, { h.i.d, h.i.a }, 64w0x100000000);
        if (sm.checksum_error == 1) { h.s.bad = h.s.bad + 1; }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) {
    apply {
        update_checksum(h.s.isValid(), { h.i.a, h.i.b, h.i.c, h.s.bad }, h.s.part, HashAlgorithm.csum16);
        update_checksum_with_payload(h.s.isValid() && h.i.c != 3, { h.i.a, h.i.d }, h.s.all, HashAlgorithm.crc16);
    }
}
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.i); pkt.emit(h.s); pkt.emit(h.o); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
