// Action profiles with and without selectors.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header flow_t { bit<32> a; bit<128> b; bit<20> c; bit<4> d; bit<8> e; bit<16> res; bit<16> res2; bit<16> res3; }
struct headers_t { ethernet_t eth; flow_t f; }
struct meta_t { }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); pkt.extract(h.f); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    action first(bit<16> n) { h.f.res = n; }
    action second(bit<16> n) { h.f.res2 = n; }
    action third(bit<9> port, bit<16> n) { sm.egress_spec = port; h.f.res3 = n; }
    @name("ap") action_profile(32) ap;
    @name("sel16") action_selector(HashAlgorithm.crc16, 64, 16) sel16;
    @name("sel32") action_selector(HashAlgorithm.crc32, 64, 32) sel32;
    table indirect { key = { h.eth.type: exact; } actions = { first; NoAction; } implementation = ap; }
    table ecmp {
        key = { h.f.a: lpm; h.f.b: selector; h.f.c: selector; h.f.d: selector; }
        actions = { second; NoAction; }
        implementation = sel16;
    }
    table ecmp2 {
        key = { h.eth.type: exact; h.f.a: selector; h.f.e: selector; h.eth.src: selector; }
        actions = { third; first; NoAction; }
        implementation = sel32;
    }
    apply { sm.egress_spec = 2; indirect.apply(); if (ecmp.apply().hit) { ecmp2.apply(); } }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.f); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
