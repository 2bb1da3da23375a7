// Arithmetic of all widths, signed and unsigned, wrapping and saturating.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header n_t {
    bit<8> a8; bit<8> b8; bit<13> a13; bit<3> s3; bit<32> a32; bit<32> b32; bit<64> a64; bit<64> b64;
    bit<128> a128; bit<128> b128; int<8> i8; int<32> i32; int<64> i64; bit<200> a200; bit<200> b200; int<120> i120;
}
struct headers_t { ethernet_t eth; n_t n; n_t r; }
struct meta_t { bit<9> nine; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); pkt.extract(h.n); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        if (!h.n.isValid()) { return; }
        h.r.setValid();
        h.r.a8 = h.n.a8 + h.n.b8 * 3;
        h.r.b8 = h.n.a8 |-| h.n.b8;
        h.r.a13 = (h.n.a13 << h.n.s3) ^ (h.n.a13 >> h.n.s3);
        h.r.s3 = h.n.s3 - 5;
        h.r.a32 = ~(h.n.a32 & h.n.b32) - (h.n.a32 | 7);
        h.r.b32 = h.n.a32 |+| h.n.b32;
        h.r.a64 = h.n.a64 * h.n.b64 + (bit<64>)h.n.a32;
        h.r.b64 = (h.n.a64 - h.n.b64) ^ (h.n.a64 << h.n.a8) ^ (h.n.b64 >> h.n.b8);
        h.r.a128 = h.n.a128 + h.n.b128 * 5 - (h.n.a128 << h.n.b8);
        h.r.b128 = (h.n.a64 ++ h.n.b64) ^ (h.n.b128 >> h.n.a8) ^ ~h.n.a128;
        h.r.i8 = h.n.i8 |+| (int<8>)h.n.a8;
        h.r.i32 = (h.n.i32 >> 3) * -7 - (int<32>)h.n.i8;
        h.r.i64 = -h.n.i64 + (int<64>)h.n.i32 * 11;
        h.r.a200 = (h.n.a200 + h.n.b200) ^ (h.n.a200 << h.n.a8) ^ (h.n.b200 >> 17);
        h.r.b200 = h.n.a200 - h.n.b200 + (bit<200>)h.n.a128 * 9;
        h.r.i120 = (h.n.i120 >> 60) - (int<120>)h.n.i64 * 3;
        if (h.n.i32 < h.n.i32 - 5 || h.n.i8 < 0 && h.n.i64 > -100) { h.r.a8 = h.r.a8 ^ 0xff; }
        if (h.n.a200 > h.n.b200) { h.r.b8 = h.r.b8 + 1; }
        if (h.n.a128 <= h.n.b128) { h.r.b8 = h.r.b8 + 2; }
        if (h.n.i120 >= 0) { h.r.b8 = h.r.b8 + 4; }
        h.r.a13 = h.r.a13 + (h.n.a32 == h.n.b32 ? 13w1 : (bit<13>)h.n.s3);
        m.nine = (bit<9>)(h.n.a8 ++ h.n.s3[0:0]);
        h.eth.type = (bit<16>)m.nine + h.n.a64[40:25] + h.n.a200[199:184];
        h.n.a200[63:0] = h.n.a64;
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.n); pkt.emit(h.r); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
