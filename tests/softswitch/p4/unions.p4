// Header unions and stacks of them: extraction, validity, copies, comparison, push and pop.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ctl_t { bit<4> op; bit<4> n; bit<16> seen; }
header a_t { bit<16> x; }
header b_t { bit<32> y; bit<8> z; }
header c_t { bit<64> w; }
header_union u_t { a_t a; b_t b; c_t c; }
struct headers_t { ethernet_t eth; ctl_t ctl; u_t u; u_t v; u_t[4] us; a_t end; }
struct meta_t { bit<4> left; bit<16> at; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); pkt.extract(h.ctl); m.left = h.ctl.n;
        transition select(pkt.lookahead<bit<8>>()[7:6]) { 0: ua; 1: ub; 2: uc; default: stack; } }
    state ua { pkt.extract(h.u.a); transition stack; }
    state ub { pkt.extract(h.u.b); transition stack; }
    state uc { pkt.extract(h.u.c); transition select(h.u.c.w[0:0]) { 1: ua; default: stack; } }
    state stack { transition select(m.left) { 0: accept; default: one; } }
    state one { m.left = m.left - 1;
        transition select(pkt.lookahead<bit<8>>()[7:6]) { 0: sa; 1: sb; default: sc; } }
    state sa { pkt.extract(h.us.next.a); transition stack; }
    state sb { pkt.extract(h.us.next.b); m.at = m.at + (bit<16>)h.us.lastIndex; transition stack; }
    state sc { pkt.extract(h.us.next.c); transition stack; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        if (!h.ctl.isValid()) { return; }
        if (h.u.isValid()) { h.ctl.seen[0:0] = 1; }
        if (h.us[0].a.isValid()) { h.ctl.seen[1:1] = 1; }
        if (h.us[3].c.isValid()) { h.ctl.seen[2:2] = 1; }
        bit<4> op = h.ctl.op;
        if (op == 1) { h.u.a.setValid(); h.u.a.x = 0x1234; }
        else if (op == 2) { h.u.b.setInvalid(); }
        else if (op == 3) { h.v = h.u; }
        else if (op == 9 && h.u == h.us[0]) { h.ctl.seen[4:4] = 1; }
        else if (op == 4) { h.u = h.us[1]; }
        else if (op == 5) { h.us[2] = h.u; }
        else if (op == 6) { h.us.push_front(1); }
        else if (op == 7) { h.us.pop_front(1); }
        else if (op == 8) { h.us.push_front(2); h.us[0].b.setValid(); h.us[0].b.y = 7; h.us[0].b.z = 9; }
        else if (op == 10) { h.v.a.setValid(); h.v.a.x = 1; h.v.b.setValid(); h.v.b.y = 2; h.v.b.z = 3; }
        else if (op == 11 && h.us[0].a.isValid()) { h.us[1].a = h.us[0].a; h.us[0].c.setValid(); h.us[0].c.w = 5; }
        else if (op == 12) { h.u.c = { 64w99 }; }
        else if (op == 13 && h.u.a.isValid()) { h.v.a = h.u.a; h.end = h.v.a; }
        if (h.v.isValid()) { h.ctl.seen[3:3] = 1; }
        if (sm.parser_error == error.StackOutOfBounds) { h.eth.src[47:32] = 0xaaaa; }
        if (sm.parser_error == error.PacketTooShort) { h.eth.src[47:32] = 0xbbbb; }
        h.eth.src[31:0] = sm.packet_length;
        h.ctl.seen[15:5] = m.at[10:0];
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.ctl); pkt.emit(h.u); pkt.emit(h.v); pkt.emit(h.us); pkt.emit(h.end); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
