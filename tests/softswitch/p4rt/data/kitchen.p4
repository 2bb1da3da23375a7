// Every kind of P4Runtime entity in one small v1model program, for the tests of the server.
#include <core.p4>
#include <v1model.p4>

@controller_header("packet_in")
header packet_in_t {
    bit<9> ingress_port;
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    bit<7> pad;
}

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

struct headers_t {
    packet_in_t packet_in;
    packet_out_t packet_out;
    ethernet_t ethernet;
}

struct meta_t {
    bit<2> color;
    bit<32> seen;
    bit<48> last_src;
}

struct learn_t {
    bit<48> src;
    bit<9> port;
}

const bit<9> CPU_PORT = 510;

parser KitchenParser(packet_in pkt, out headers_t hdr, inout meta_t meta,
                     inout standard_metadata_t std) {
    state start {
        transition select(std.ingress_port) {
            CPU_PORT: from_cpu;
            default: ethernet;
        }
    }
    state from_cpu {
        pkt.extract(hdr.packet_out);
        transition ethernet;
    }
    state ethernet {
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control NoVerify(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control KitchenIngress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets_and_bytes) host_counter;
    direct_meter<bit<2>>(MeterType.packets) acl_meter;
    action_selector(HashAlgorithm.crc16, 32w64, 32w16) nexthops;
    counter(16, CounterType.packets_and_bytes) port_rx;
    meter(4, MeterType.bytes) limiter;
    register<bit<32>>(8) seen;

    action drop() {
        mark_to_drop(std);
    }
    action send(@name("port") bit<9> port) {
        std.egress_spec = port;
    }
    action rewrite(@name("port") bit<9> port, @name("dst") bit<48> dst) {
        std.egress_spec = port;
        hdr.ethernet.dst = dst;
    }
    action flood(@name("group") bit<16> group) {
        std.mcast_grp = group;
    }
    action punt(@name("reason") bit<7> reason) {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
        hdr.packet_in.reason = reason;
        std.egress_spec = CPU_PORT;
    }
    action learn() {
        digest<learn_t>(1, { hdr.ethernet.src, std.ingress_port });
    }

    @name("host")
    table host {
        key = { hdr.ethernet.dst: exact @name("dst"); }
        actions = { send; flood; punt; @defaultonly drop; @tableonly NoAction; }
        default_action = drop;
        counters = host_counter;
        support_timeout = true;
        size = 64;
    }

    @name("route")
    table route {
        key = {
            hdr.ethernet.dst: lpm @name("dst");
            hdr.ethernet.src: selector;
            hdr.ethernet.type: selector;
        }
        actions = { send; rewrite; NoAction; }
        implementation = nexthops;
        size = 32;
    }

    @name("acl")
    table acl {
        key = {
            hdr.ethernet.src: ternary @name("src");
            hdr.ethernet.type: range @name("type");
            std.ingress_port: optional @name("port");
        }
        actions = { drop; NoAction; punt; }
        default_action = NoAction;
        meters = acl_meter;
        size = 8;
    }

    @name("fixed")
    table fixed {
        key = {
            hdr.ethernet.type: exact @name("type");
            std.ingress_port: ternary @name("port");
        }
        actions = { send; NoAction; }
        const default_action = NoAction;
        const entries = {
            (0x88b5, 1): send(2);
            (0x88b5, _): send(3);
        }
    }

    @name("learning")
    table learning {
        key = { }
        actions = { learn; NoAction; }
        default_action = NoAction;
    }

    apply {
        port_rx.count((bit<32>) std.ingress_port & 15);
        if (hdr.packet_out.isValid()) {
            std.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            learning.apply();
            limiter.execute_meter((bit<32>) 0, meta.color);
            seen.read(meta.seen, 0);
            seen.write(0, meta.seen + 1);
            acl_meter.read(meta.color);
            switch (acl.apply().action_run) {
                NoAction: {
                    if (!fixed.apply().hit) {
                        if (!host.apply().hit) {
                            route.apply();
                        }
                    }
                }
            }
        }
    }
}

control KitchenEgress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply { }
}

control KitchenDeparser(packet_out pkt, in headers_t hdr) {
    apply {
        pkt.emit(hdr.packet_in);
        pkt.emit(hdr.ethernet);
    }
}

V1Switch(KitchenParser(), NoVerify(), KitchenIngress(), KitchenEgress(), NoVerify(), KitchenDeparser()) main;
