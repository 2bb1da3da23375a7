// bool fields of a header: extracted, tested, assigned, compared, matched, sent.
#include <core.p4>
#include <v1model.p4>

header flags_t { bool a; bool b; bit<5> rest; bool c; }
struct headers_t { flags_t f; }
struct meta_t { bool seen; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(h.f);
        m.seen = h.f.a;
        transition select(h.f.b) { true: odd; default: accept; }
    }
    state odd { h.f.rest = 1; transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    action set(bit<1> value) { h.f.c = value == 1; h.f.rest = h.f.rest + 8; }
    table flags {
        key = { h.f.a: exact; h.f.c: ternary; }
        actions = { set; NoAction; }
        default_action = NoAction;
    }
    apply {
        sm.egress_spec = 2;
        flags.apply();
        if (m.seen && h.f.a == h.f.c) { h.f.b = !h.f.b; }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.f); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
