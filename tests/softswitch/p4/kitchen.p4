// Many language features in one program: arithmetic of all widths, stacks, varbit, lookahead.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header label_t { bit<20> label; bit<3> tc; bit<1> bos; bit<8> ttl; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> len; bit<16> id; bit<3> flags; bit<13> frag;
    bit<8> ttl; bit<8> proto; bit<16> csum; bit<32> src; bit<32> dst;
    varbit<320> options;
}
header wide_t { bit<256> a; bit<128> b; int<16> s; bit<7> x; bit<9> y; }
struct headers_t { ethernet_t eth; label_t[4] labels; ipv4_t ip; wide_t wide; wide_t wide2; }
struct meta_t { bit<8> first; bit<32> sum; int<24> acc; bool flag; bit<16> picked; bit<200> big; }

error { BadVersion }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(h.eth);
        transition select(h.eth.type) {
            0x8847: labels;
            0x0800: ip;
            0x1234 &&& 0xff00: wide;
            default: accept;
        }
    }
    state labels {
        pkt.extract(h.labels.next);
        transition select(h.labels.last.bos) { 1: after; default: labels; }
    }
    state after {
        m.first = pkt.lookahead<bit<8>>();
        transition select(m.first[7:4], m.first[3:0]) {
            (4, 5 .. 15): ip;
            (4, _): bad;
            default: accept;
        }
    }
    state bad { verify(false, error.BadVersion); transition accept; }
    state ip {
        verify(pkt.lookahead<bit<4>>() == 4, error.BadVersion);
        bit<8> v = pkt.lookahead<bit<8>>();
        verify((v & 0xf) >= 5, error.HeaderTooShort);
        pkt.extract(h.ip, (bit<32>)(((bit<9>)(v & 0xf) - 5) << 5));
        transition accept;
    }
    state wide { pkt.extract(h.wide); pkt.advance((bit<32>)h.wide.x * 8); transition accept; }
}

control V(inout headers_t h, inout meta_t m) {
    apply {
        verify_checksum(h.ip.isValid(), { h.ip.version, h.ip.ihl, h.ip.tos, h.ip.len, h.ip.id,
            h.ip.flags, h.ip.frag, h.ip.ttl, h.ip.proto, h.ip.src, h.ip.dst, h.ip.options },
            h.ip.csum, HashAlgorithm.csum16);
    }
}

control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    register<bit<64>>(16) seen;
    action drop() { mark_to_drop(sm); }
    action forward(bit<9> port, bit<48> dst) { sm.egress_spec = port; h.eth.dst = dst; }
    action swap_wide(bit<128> key) {
        h.wide2 = h.wide;
        h.wide.a = h.wide2.a + (bit<256>)key;
        h.wide.b = h.wide2.b ^ key;
        h.wide.s = h.wide2.s |-| 100;
        h.wide.y = (bit<9>)(h.wide2.x ++ 2w3);
        h.wide.x = h.wide2.x |+| 50;
        h.wide.a[135:8] = h.wide.b;
    }
    table l2 {
        key = { h.eth.dst: exact; sm.ingress_port: exact; }
        actions = { forward; drop; NoAction; }
        default_action = drop();
    }
    table choose {
        key = { h.wide.x: ternary; h.wide.isValid(): exact; h.eth.src[7:0]: range; }
        actions = { swap_wide; NoAction; }
        const default_action = NoAction();
        const entries = {
            (7w3 &&& 7w3, true, 8w10 .. 8w20): swap_wide(5);
            (_, true, _): swap_wide(0xffffffffffffffffffffffffffffffff);
        }
    }
    apply {
        m.acc = (int<24>)(bit<24>)h.eth.src[23:0];
        m.acc = m.acc >> 3;
        m.flag = m.acc < 0;
        if (h.labels[0].isValid()) {
            h.labels[0].ttl = h.labels[0].ttl - 1;
            if (h.labels[0].ttl == 0) { h.labels.pop_front(1); }
            else if (h.labels[0].tc == 7) {
                h.labels.push_front(1);
                h.labels[0].setValid();
                h.labels[0] = { 20w99, 3w1, 1w0, 8w64 };
            }
        }
        if (h.wide.isValid()) { choose.apply(); }
        if (h.ip.isValid() && h.ip.ttl > 1) {
            h.ip.ttl = h.ip.ttl - 1;
            bit<64> n;
            seen.read(n, (bit<32>)h.ip.tos & 15);
            seen.write((bit<32>)h.ip.tos & 15, n + 1);
            h.ip.id = (bit<16>)n;
            hash(m.picked, HashAlgorithm.crc16, 16w10, { h.ip.src, h.ip.dst, m.flag ? 8w1 : 8w0 }, 16w1000);
            h.ip.frag = (bit<13>)m.picked;
        }
        if (sm.parser_error != error.NoError || sm.checksum_error == 1) {
            h.eth.src = (bit<48>)(bit<32>)sm.packet_length;
            if (sm.parser_error == error.BadVersion) { h.eth.src[47:40] = 0xbb; }
            if (sm.parser_error == error.PacketTooShort) { h.eth.src[47:40] = 0xcc; }
            if (sm.checksum_error == 1) { h.eth.src[39:32] = 0xdd; }
        }
        if (m.flag) { h.eth.type = h.eth.type | 1; }
        switch (l2.apply().action_run) {
            forward: { m.sum = m.sum + 1; }
            default: { sm.egress_spec = 1; }
        }
    }
}

control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply { if (m.sum == 1 && h.wide.isValid()) { h.wide2.setInvalid(); } }
}
control U(inout headers_t h, inout meta_t m) {
    apply {
        update_checksum(h.ip.isValid(), { h.ip.version, h.ip.ihl, h.ip.tos, h.ip.len, h.ip.id,
            h.ip.flags, h.ip.frag, h.ip.ttl, h.ip.proto, h.ip.src, h.ip.dst, h.ip.options },
            h.ip.csum, HashAlgorithm.csum16);
    }
}
control D(packet_out pkt, in headers_t h) {
    apply { pkt.emit(h.eth); pkt.emit(h.labels); pkt.emit(h.ip); pkt.emit(h.wide); pkt.emit(h.wide2); }
}
V1Switch(P(), V(), I(), E(), U(), D()) main;
