// Header stacks: overflow, next and last, push and pop by several, run-time indices, header copies.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ctl_t { bit<4> op; bit<4> index; bit<16> seen; }
header item_t { bit<7> kind; bit<1> last; bit<16> value; bit<128> id; }
struct headers_t { ethernet_t eth; ctl_t ctl; item_t[5] items; item_t[5] others; item_t one; }
struct meta_t { bit<16> n; }
error { Weird }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); pkt.extract(h.ctl); transition items; }
    state items {
        pkt.extract(h.items.next);
        m.n = m.n + 1;
        m.n = m.n + h.items.last.value;
        transition select(h.items.last.last, h.items.last.kind) {
            (1, 0x55): weird;
            (1, _): accept;
            (0, 0x10 &&& 0x70): skip;
            (0, 0x20 .. 0x2f): others;
            default: items;
        }
    }
    state others { pkt.extract(h.others.next); m.n = m.n + (bit<16>)h.others.lastIndex; transition select(h.others.last.kind[0:0]) { 1: accept; default: items; } }
    state skip { pkt.advance(16); transition items; }
    state weird { verify(h.items.last.value < 0x8000, error.Weird); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        if (!h.ctl.isValid()) { return; }
        h.ctl.seen = m.n;
        bit<4> op = h.ctl.op;
        if (op == 1) { h.items.push_front(1); }
        else if (op == 2) { h.items.push_front(3); h.items[1].setValid(); h.items[1] = { 5, 0, 0x1234, 128w9 }; }
        else if (op == 3) { h.items.pop_front(1); }
        else if (op == 4) { h.items.pop_front(4); }
        else if (op == 5) { h.items.push_front(5); h.items[0].setValid(); }
        else if (op == 6) { h.one = h.items[1]; }
        else if (op == 7) { h.items = h.others; }
        else if (op == 8 && h.items[0].isValid()) { h.items[2] = h.items[0]; h.items[0].value = h.items[2].value + 1; }
        else if (op == 9 && h.ctl.index < 5) { h.items[h.ctl.index].setValid(); h.items[h.ctl.index].value = 0x4242; h.items[h.ctl.index].kind = 1; h.items[h.ctl.index].last = 0; h.items[h.ctl.index].id = 7; }
        else if (op == 10 && h.items[0] == h.items[1]) { h.ctl.seen = 0xeeee; }
        else if (op == 11) { h.others.pop_front(2); h.items.push_front(2); }
        else if (op == 12 && h.items[0].isValid() && h.items[1].isValid()) { h.items[0].id = h.items[1].id |-| h.items[0].id; h.items[1].id = h.items[0].id >> (bit<8>)h.items[0].kind; h.items[0].value = (bit<16>)(h.items[1].id << h.ctl.index); }
        else if (op == 13) { h.items[0].setInvalid(); }
        if (sm.parser_error != error.NoError) { h.eth.src = (bit<48>)sm.packet_length; }
        if (sm.parser_error == error.StackOutOfBounds) { h.eth.src[47:32] = 0xaaaa; }
        if (sm.parser_error == error.PacketTooShort) { h.eth.src[47:32] = 0xbbbb; }
        if (sm.parser_error == error.Weird) { h.eth.src[47:32] = 0xcccc; }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.ctl); pkt.emit(h.items); pkt.emit(h.others); pkt.emit(h.one); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
