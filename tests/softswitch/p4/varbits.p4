// Varbits: assignment between headers of different types, comparison, comparison of whole headers.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ctl_t { bit<8> op; bit<8> n; bit<8> m; bit<16> seen; }
header one_t { bit<8> a; varbit<64> v; }
header two_t { varbit<64> v; bit<16> b; }
header wide_t { varbit<200> v; }
struct headers_t { ethernet_t eth; ctl_t ctl; one_t one; one_t other; two_t two; wide_t wide; }
struct meta_t { }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(h.eth); pkt.extract(h.ctl);
        pkt.extract(h.one, (bit<32>)h.ctl.n * 8);
        pkt.extract(h.other, (bit<32>)h.ctl.m * 8);
        pkt.extract(h.two, (bit<32>)h.ctl.m * 8);
        pkt.extract(h.wide, (bit<32>)h.ctl.n * 8);
        transition select(h.ctl.op) { 9: copy; default: accept; }
    }
    state copy { h.two.v = h.one.v; transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        if (!h.wide.isValid()) { return; }
        bit<8> op = h.ctl.op;
        if (op == 1) { h.two.v = h.one.v; }
        else if (op == 2) { h.one.v = h.two.v; h.other.v = h.one.v; }
        else if (op == 3) { h.one = h.other; }
        if (h.one.v == h.other.v) { h.ctl.seen[0:0] = 1; }
        if (h.one.v != h.two.v) { h.ctl.seen[1:1] = 1; }
        if (h.one == h.other) { h.ctl.seen[2:2] = 1; }
        if (h.one != h.other) { h.ctl.seen[3:3] = 1; }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) {
    apply { pkt.emit(h.eth); pkt.emit(h.ctl); pkt.emit(h.one); pkt.emit(h.other); pkt.emit(h.two); pkt.emit(h.wide); }
}
V1Switch(P(), V(), I(), E(), U(), D()) main;
