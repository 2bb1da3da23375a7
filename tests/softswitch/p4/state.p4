// Counters, meters and registers, direct and indexed, in and out of bounds.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header op_t { bit<8> index; bit<8> color; bit<8> color2; bit<16> value; bit<64> wide; bit<4> nibble; bit<4> pad; bit<16> random; }
struct headers_t { ethernet_t eth; op_t op; }
struct meta_t { bit<2> direct_color; bit<2> byte_color; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); pkt.extract(h.op); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    @name("seen") counter(16, CounterType.packets_and_bytes) seen;
    @name("policer") meter(8, MeterType.packets) policer;
    @name("bytes_policer") meter(8, MeterType.bytes) bytes_policer;
    direct_meter<bit<2>>(MeterType.packets) direct;
    @name("direct_count") direct_counter(CounterType.packets_and_bytes) direct_count;
    @name("r16") register<bit<16>>(16) r16;
    @name("r64") register<bit<64>>(16) r64;
    @name("r4") register<bit<4>>(16) r4;
    @name("r128") register<bit<128>>(4) r128;
    action keep() { direct.read(m.direct_color); direct_count.count(); }
    table t { key = { h.eth.dst: exact; } actions = { keep; NoAction; } meters = direct; counters = direct_count; }
    apply {
        sm.egress_spec = 2;
        if (!h.op.isValid()) { return; }
        bit<32> i = (bit<32>)h.op.index;
        seen.count(i & 15);
        policer.execute_meter(i & 7, m.byte_color);
        h.op.color = (bit<8>)m.byte_color;
        bytes_policer.execute_meter(i & 7, m.byte_color);
        h.op.color2 = (bit<8>)m.byte_color;
        t.apply();
        h.op.pad = (bit<4>)m.direct_color;
        bit<16> v; bit<64> w; bit<4> n; bit<128> x;
        r16.read(v, i & 15); r16.write(i & 15, v + h.op.value); h.op.value = v;
        r64.read(w, i & 15); r64.write(i & 15, w ^ h.op.wide); h.op.wide = w;
        r4.read(n, i & 15); r4.write(i & 15, n + h.op.nibble); h.op.nibble = n;
        r128.read(x, i & 3); r128.write(i & 3, x + (bit<128>)h.eth.dst * 3); h.eth.src = x[47:0];
        random(h.op.random, 16w100, 16w200);
        if (h.op.random >= 100 && h.op.random <= 200) { h.op.random = 1; }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.op); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
