// A table key of type error, to which the P4Info gives no width.
#include <core.p4>
#include <v1model.p4>

header byte_t { bit<8> value; }
struct headers_t { byte_t first; byte_t second; }
struct meta_t { error found; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.first); pkt.extract(h.second); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    action mark(bit<8> value) { h.first.value = value; }
    table by_error {
        key = { sm.parser_error: exact; }
        actions = { mark; NoAction; }
        default_action = NoAction;
    }
    apply { sm.egress_spec = 2; by_error.apply(); }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.first); pkt.emit(h.second); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
