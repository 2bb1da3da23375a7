// The header extracted last, copied as a whole in the parser.
#include <core.p4>
#include <v1model.p4>

header word_t { bit<1> bottom; bit<15> value; }
struct headers_t { word_t[4] words; word_t copy; }
struct meta_t { word_t kept; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(h.words.next);
        m.kept = h.words.last;
        transition select(m.kept.bottom) { 0: start; default: accept; }
    }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        h.copy = m.kept;
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.words); pkt.emit(h.copy); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
