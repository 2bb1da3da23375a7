// What p4c describes in the P4Info and leaves out of the JSON, since no packet can reach it;
// its front end, which the P4Info is made from, does not see that.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t eth; }
struct meta_t { }
struct learned_t { bit<48> src; }

parser P(packet_in pkt, out headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    value_set<bit<16>>(4) types;
    state start { pkt.extract(h.eth); transition accept; }
    state unreached {
        transition select(h.eth.type) { types: accept; default: reject; }
    }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) {
    action_selector(HashAlgorithm.crc16, 16, 4) balancer;
    action_profile(16) profile;
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<2>>(MeterType.packets) rate;
    counter(8, CounterType.packets) counted;
    meter(8, MeterType.packets) metered;
    register<bit<32>>(8) kept;
    bit<2> colour;
    action send(bit<9> port) { sm.egress_spec = port; }
    action unused(bit<9> port) { sm.egress_spec = port; counted.count(0); kept.write(0, 1); metered.execute_meter(0, colour); }
    action metered_send(bit<9> port) { rate.read(colour); sm.egress_spec = port; }
    action counted_send(bit<9> port) { hits.count(); sm.egress_spec = port; }
    table used { key = { h.eth.dst: exact; } actions = { send; NoAction; } default_action = NoAction; }
    table plain { key = { h.eth.src: ternary; } actions = { unused; NoAction; } default_action = NoAction; }
    table selected {
        key = { h.eth.dst: exact; h.eth.src: selector; }
        actions = { send; }
        implementation = balancer;
    }
    table profiled { key = { h.eth.dst: exact; } actions = { send; } implementation = profile; }
    table with_counter { key = { h.eth.dst: exact; } actions = { counted_send; } counters = hits; }
    table with_meter { key = { h.eth.dst: exact; } actions = { metered_send; } meters = rate; }
    apply {
        used.apply();
        bool never = false;
        if (never) {
            plain.apply();
            selected.apply();
            profiled.apply();
            with_counter.apply();
            with_meter.apply();
            digest<learned_t>(1, { h.eth.src });
        }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out pkt, in headers_t h) { apply { pkt.emit(h.eth); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
