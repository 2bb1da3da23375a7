// Parser value sets: of one field, of fields that are no whole octets, of a wide one; order with cases.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ctl_t { bit<3> a; bit<5> b; bit<4> c; bit<4> seen; bit<200> wide; }
struct headers_t { ethernet_t eth; ctl_t ctl; }
struct meta_t { bit<4> seen; }
struct pair_t { bit<3> a; bit<4> c; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    value_set<bit<16>>(4) types;
    value_set<pair_t>(8) pairs;
    value_set<bit<200>>(2) wides;
    state start {
        pkt.extract(h.eth);
        transition select(h.eth.type) { types: ctl; 0x0001: ctl; default: accept; }
    }
    state ctl {
        pkt.extract(h.ctl);
        transition select(h.ctl.a, h.ctl.c) { (1, 1): first; pairs: second; (2, _): third; default: wide; }
    }
    state first { m.seen = 1; transition accept; }
    state second { m.seen = 2; transition wide; }
    state third { m.seen = 3; transition accept; }
    state wide { transition select(h.ctl.wide) { wides: found; default: accept; } }
    state found { m.seen = m.seen + 8; transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply { sm.egress_spec = 2; if (h.ctl.isValid()) { h.ctl.seen = m.seen; } }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.ctl); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
