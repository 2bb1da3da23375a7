// Headers of the user's metadata: extracted, compared, copied; a stack of them.
#include <core.p4>
#include <v1model.p4>

header word_t { bit<12> value; bit<4> low; }
header tail_t { bit<8> count; varbit<64> rest; }
struct headers_t { word_t first; word_t second; word_t[2] more; tail_t tail; }
struct meta_t { word_t kept; tail_t tail; word_t[2] stack; bit<3> small; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(m.kept);
        pkt.extract(h.first);
        pkt.extract(m.stack.next);
        pkt.extract(m.stack.next);
        m.small = m.kept.low[2:0];
        transition select(m.kept.value) { 0: accept; default: tail; }
    }
    state tail { pkt.extract(m.tail, (bit<32>)m.kept.value); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        if (m.kept.isValid()) { h.second = m.kept; h.second.value = h.second.value + 1; }
        if (m.tail.isValid()) { h.tail = m.tail; }
        h.more[0] = m.stack[1];
        h.more[1] = m.stack[0];
        if (m.small == 5) { m.kept.setInvalid(); }
        if (!m.kept.isValid()) { h.first.setInvalid(); }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) {
    apply { pkt.emit(h.first); pkt.emit(h.second); pkt.emit(h.more); pkt.emit(h.tail); }
}
V1Switch(P(), V(), I(), E(), U(), D()) main;
