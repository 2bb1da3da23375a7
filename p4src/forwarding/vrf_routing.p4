#ifndef FCN_VRF_ROUTING_P4
#define FCN_VRF_ROUTING_P4

#include "../base/headers.p4"
#include "../base/pe_metadata.p4"

// VrfRouting: longest-prefix match in the customer's VRF.
// Reads:  meta.base.vrf, customer destination.
// Writes: Ethernet addresses, meta.base.egress_port, meta.egress_vlan_id for a host behind a DC port;
//         meta.tunnel and meta.base.forward for one behind the WAN; meta.base.punt_reason, meta.base.drop_reason.
// When:   meta.base.forward == Forward.VRF.
control VrfRouting(
        in ipv4_h ipv4,
        in ipv6_h ipv6,
        inout ethernet_h ethernet,
        inout pe_meta_t meta) {
    action to_dc(port_t port, vlan_id_t vlan_id, mac_addr_t src_mac, mac_addr_t dst_mac) {
        meta.base.egress_port = port;
        meta.egress_vlan_id = vlan_id;
        ethernet.src = src_mac;
        ethernet.dst = dst_mac;
    }
    action to_tunnel(tunnel_t tunnel) {
        meta.tunnel = tunnel;
        meta.base.forward = Forward.TUNNEL;
    }
    action glean() {
        meta.base.punt_reason = PuntReason.NEIGHBOR_MISS;
    }
    action to_local() {
        meta.base.punt_reason = PuntReason.LOCAL;
    }
    action blackhole() {
        meta.base.drop_reason = DropReason.BLACKHOLE;
    }
    action no_route() {
        meta.base.drop_reason = DropReason.NO_ROUTE;
    }

    @name(".route_ipv4")
    table route_ipv4 {
        key = {
            meta.base.vrf: exact @name("vrf");
            ipv4.dst: lpm @name("dst");
        }
        actions = {
            @tableonly to_dc;
            @tableonly to_tunnel;
            @tableonly glean;
            @tableonly to_local;
            @tableonly blackhole;
            @defaultonly no_route;
        }
        const default_action = no_route;
        size = ROUTE_TABLE_SIZE;
    }

    @name(".route_ipv6")
    table route_ipv6 {
        key = {
            meta.base.vrf: exact @name("vrf");
            ipv6.dst: lpm @name("dst");
        }
        actions = {
            @tableonly to_dc;
            @tableonly to_tunnel;
            @tableonly glean;
            @tableonly to_local;
            @tableonly blackhole;
            @defaultonly no_route;
        }
        const default_action = no_route;
        size = ROUTE_TABLE_SIZE;
    }

    apply {
        if (ipv4.isValid()) {
            route_ipv4.apply();
        } else {
            route_ipv6.apply();
        }
    }
}

#endif
