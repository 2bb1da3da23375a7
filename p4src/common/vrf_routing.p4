#ifndef FCN_VRF_ROUTING_P4
#define FCN_VRF_ROUTING_P4

// VrfRouting: longest-prefix match in the customer's VRF.
// Reads:  meta.vrf, customer destination.
// Writes: Ethernet addresses, meta.egress_port, meta.egress_vlan_id for a host behind a DC port;
//         meta.tunnel and meta.forward for one behind the WAN; meta.punt_reason, meta.drop_reason.
// When:   meta.forward == Forward.VRF.
control VrfRouting(
        in ipv4_h ipv4,
        in ipv6_h ipv6,
        inout ethernet_h ethernet,
        inout meta_t meta) {
    action to_dc(port_t port, vlan_id_t vlan_id, mac_addr_t src_mac, mac_addr_t dst_mac) {
        meta.egress_port = port;
        meta.egress_vlan_id = vlan_id;
        ethernet.src = src_mac;
        ethernet.dst = dst_mac;
    }
    action to_tunnel(tunnel_t tunnel) {
        meta.tunnel = tunnel;
        meta.forward = Forward.TUNNEL;
    }
    action glean() {
        meta.punt_reason = PuntReason.NEIGHBOR_MISS;
    }
    action to_local() {
        meta.punt_reason = PuntReason.LOCAL;
    }
    action blackhole() {
        meta.drop_reason = DropReason.BLACKHOLE;
    }
    action no_route() {
        meta.drop_reason = DropReason.NO_ROUTE;
    }

    @name(".route_ipv4")
    table route_ipv4 {
        key = {
            meta.vrf: exact @name("vrf");
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
            meta.vrf: exact @name("vrf");
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
        if (meta.forward == Forward.VRF) {
            if (ipv4.isValid()) {
                route_ipv4.apply();
            } else {
                route_ipv6.apply();
            }
        }
    }
}

#endif
