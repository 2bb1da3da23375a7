#ifndef FCN_ALTERNATE_P4
#define FCN_ALTERNATE_P4

#include "../../base/headers.p4"
#include "../../base/metadata.p4"
#include "link_types.p4"

// Alternate: another next hop that leads to the destination without a loop (RFC 5286), for packets whose own is dead.
// Reads:  the port of the dead next hop, underlay destination.
// Writes: Ethernet addresses and egress port; is_there.
// When:   a packet of the underlay meets a dead next hop.
control Alternate(
        in port_t dead_port, in ipv6_addr_t dst, inout ethernet_h ethernet, inout base_meta_t meta, out bool is_there) {
    action set_alternate(port_t port, mac_addr_t src_mac, mac_addr_t dst_mac) {
        is_there = true;
        meta.egress_port = port;
        ethernet.src = src_mac;
        ethernet.dst = dst_mac;
    }
    action no_alternate() {
        is_there = false;
    }

    @name(".alternate")
    table alternate {
        key = {
            dead_port: exact @name("port");
            dst: lpm @name("dst");
        }
        actions = {
            @tableonly set_alternate;
            @defaultonly no_alternate;
        }
        const default_action = no_alternate;
        size = ALTERNATE_TABLE_SIZE;
    }

    apply {
        alternate.apply();
    }
}

#endif
