// Clones, resubmit, recirculate, truncate, multicast, digests, exit: each bit of `ops` requests one.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header op_t { bit<16> ops; bit<8> pass; bit<8> instance; bit<16> length; bit<16> group; bit<16> rid; bit<16> in_port; bit<16> kept; bit<8> tail; }
header shim_t { bit<16> tag; bit<16> more; }
struct headers_t { ethernet_t eth; op_t op; shim_t shim; }
struct meta_t {
    @field_list(1, 2) bit<16> kept;
    @field_list(2) bit<8> passes;
    bit<8> lost;
}
struct digest_t { bit<48> src; bit<16> ops; bit<9> port; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); transition select(h.eth.type) { 0x7778: op; default: accept; } }
    state op { pkt.extract(h.op); transition select(h.op.tail) { 0xee: shim; default: accept; } }
    state shim { pkt.extract(h.shim); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    action stop() { sm.egress_spec = 4; exit; }
    apply {
        sm.egress_spec = 2;
        if (h.op.isValid()) {
            bit<16> ops = h.op.ops;
            if (sm.instance_type != 0) { h.op.pass = h.op.pass + 1; }
            h.op.instance = (bit<8>)sm.instance_type;
            h.op.length = (bit<16>)sm.packet_length;
            h.op.in_port = (bit<16>)sm.ingress_port;
            h.op.kept = m.kept;
            m.kept = m.kept + 0x11;
            m.passes = m.passes + 1;
            m.lost = m.lost + 1;
            if (ops & 1 != 0) { clone_preserving_field_list(CloneType.I2E, 7, 1); }
            if (ops & 2 != 0) { clone_preserving_field_list(CloneType.I2E, 8, 2); }
            if (ops & 4 != 0 && m.passes < 3) { resubmit_preserving_field_list(2); }
            if (ops & 8 != 0) { sm.mcast_grp = h.op.group; }
            if (ops & 16 != 0) { digest<digest_t>(1, { h.eth.src, ops, sm.ingress_port }); }
            if (ops & 32 != 0) { mark_to_drop(sm); }
            if (ops & 64 != 0) { truncate((bit<32>)h.op.group & 127); }
            if (ops & 128 != 0) { sm.priority = (bit<3>)h.op.group; }
            if (ops & 256 != 0) { h.shim.setValid(); h.shim.tag = 0xbeef; h.op.tail = 0xee; }
            if (ops & 512 != 0) { stop(); }
            if (ops & 1024 != 0) { h.shim.setInvalid(); h.op.tail = 0; }
            h.op.length = h.op.length + 0x8000;
        }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        if (h.op.isValid()) {
            h.op.rid = sm.egress_rid;
            h.op.length = (bit<16>)sm.packet_length;
            h.op.instance = h.op.instance ++ 4w0 == 12w0 ? (bit<8>)sm.instance_type : h.op.instance + (bit<8>)sm.instance_type;
            h.op.in_port = h.op.in_port + ((bit<16>)sm.egress_port << 8) + (bit<16>)m.lost;
            bit<16> ops = h.op.ops;
            if (ops & 2048 != 0 && sm.instance_type == 0) { clone_preserving_field_list(CloneType.E2E, 7, 1); h.op.kept = 0xe2e; }
            if (ops & 4096 != 0 && h.op.pass < 2) { recirculate_preserving_field_list(2); h.op.pass = h.op.pass + 1; h.op.ops = ops & 0xefff; }
            if (ops & 8192 != 0) { truncate(40); }
            if (ops & 16384 != 0 && sm.instance_type == 2) { mark_to_drop(sm); }
            if (ops & 0x8000 != 0) { h.shim.setValid(); h.shim.more = (bit<16>)sm.packet_length; h.op.tail = 0xee; }
        }
    }
}
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.op); pkt.emit(h.shim); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
