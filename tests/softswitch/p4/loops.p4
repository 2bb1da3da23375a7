// Loops in an action and a header stack indexed at run time as a key of tables.
#include <core.p4>
#include <v1model.p4>

header word_t { bit<8> value; }
header top_t { bit<8> index; bit<8> count; bit<8> sum; }
struct headers_t { top_t top; word_t[4] words; }
struct meta_t { }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(h.top);
        pkt.extract(h.words.next);
        pkt.extract(h.words.next);
        pkt.extract(h.words.next);
        pkt.extract(h.words.next);
        transition accept;
    }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    action again() {
        for (bit<8> i = 0; i < h.top.count; i = i + 1) {
            if (i == 5) { continue; }
            if (i == 9) { break; }
            h.top.sum = h.top.sum + i;
        }
    }
    action mark(bit<8> value) { h.words[h.top.index].value = value; }
    table indexed {
        key = { h.words[h.top.index].value: exact; }
        actions = { mark; NoAction; }
        default_action = NoAction;
    }
    table ranked {
        key = { h.words[h.top.index].value: ternary; h.words[3].value: exact; }
        actions = { mark; NoAction; }
        default_action = NoAction;
    }
    apply { sm.egress_spec = 2; again(); indexed.apply(); ranked.apply(); }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.top); pkt.emit(h.words); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
