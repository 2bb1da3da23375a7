// Every match kind, alone and mixed, with priorities, counters, timeouts and hit/miss control flow.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header keys_t { bit<16> vrf; bit<32> a; bit<128> b; bit<20> c; bit<4> d; bit<8> e; bit<5> f; bit<3> g; bit<16> res; }
struct headers_t { ethernet_t eth; keys_t k; keys_t spare; }
struct meta_t { }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); transition select(h.eth.type) { 0x7777: keys; default: accept; } }
    state keys { pkt.extract(h.k); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    direct_counter(CounterType.packets_and_bytes) exact_counter;
    action add(bit<16> n) { h.k.res = h.k.res + n; }
    action add_exact(bit<16> n) { h.k.res = h.k.res + n; exact_counter.count(); }
    action set_spare(bit<16> n) { h.k.res = h.k.res ^ n; }
    table exact_t {
        key = { h.k.a: exact; h.k.c: exact; h.k.d: exact; }
        actions = { add_exact; NoAction; }
        counters = exact_counter;
        size = 64;
        support_timeout = true;
    }
    table lpm4 { key = { h.k.vrf: exact; h.k.a: lpm; } actions = { add; NoAction; } size = 64; }
    table lpm6 { key = { h.k.b: lpm; } actions = { add; set_spare; } default_action = add(3); size = 64; }
    table lpm20 { key = { h.k.c: lpm; h.k.d: exact; } actions = { add; NoAction; } size = 64; }
    table ternary_t {
        key = { h.k.b: ternary; h.k.f: ternary; h.k.a: lpm; h.spare.isValid(): ternary; }
        actions = { add; set_spare; NoAction; }
    }
    table range_t {
        key = { h.k.c: range; h.k.f: range; h.k.e: ternary; h.k.g: exact; }
        actions = { add; set_spare; NoAction; }
    }
    table optional_t { key = { h.k.e: optional; h.k.g: optional; h.k.vrf: exact; } actions = { add; NoAction; } }
    table masked { key = { h.k.b & 0xff00ff: exact; h.spare.a: exact; } actions = { add; NoAction; } }
    apply {
        sm.egress_spec = 2;
        if (h.k.isValid()) {
            if (exact_t.apply().hit) { h.k.res = h.k.res + 0x100; }
            if (!lpm4.apply().hit) { h.k.res = h.k.res + 0x200; }
            switch (lpm6.apply().action_run) { add: { h.k.res = h.k.res + 0x400; } set_spare: { h.k.g = 1; } }
            lpm20.apply();
            ternary_t.apply();
            range_t.apply();
            optional_t.apply();
            masked.apply();
        }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.k); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
