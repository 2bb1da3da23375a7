// Standard metadata of the traffic manager, written into the packet at egress.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header q_t {
    bit<16> port; bit<8> priority; bit<32> enq_timestamp; bit<32> enq_qdepth; bit<32> deq_timedelta; bit<32> deq_qdepth;
    bit<48> ingress_ts; bit<48> egress_ts; bit<32> length;
}
struct headers_t { ethernet_t eth; q_t q; }
struct meta_t { }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    state start { pkt.extract(h.eth); pkt.extract(h.q); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply { sm.egress_spec = (bit<9>)h.q.port; sm.priority = (bit<3>)h.q.priority; }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    apply {
        h.q.enq_timestamp = sm.enq_timestamp;
        h.q.enq_qdepth = (bit<32>)sm.enq_qdepth;
        h.q.deq_timedelta = sm.deq_timedelta;
        h.q.deq_qdepth = (bit<32>)sm.deq_qdepth;
        h.q.ingress_ts = sm.ingress_global_timestamp;
        h.q.egress_ts = sm.egress_global_timestamp;
        h.q.length = sm.packet_length;
    }
}
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); pkt.emit(h.q); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
