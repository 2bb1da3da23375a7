#ifndef FCN_UNDERLAY_P4
#define FCN_UNDERLAY_P4

#include "../base/headers.p4"
#include "../base/metadata.p4"
#include "../base/sizes.p4"

// Underlay: forwarding in the WAN domain by outer destination, ECMP over the outer header including
// the flow label (RFC 6437, RFC 6438).
// Reads:  underlay IPv6 header.
// Writes: Ethernet addresses, meta.egress_port; meta.punt_reason, meta.drop_reason.
// When:   meta.forward == Forward.UNDERLAY.
control Underlay(in ipv6_h outer_ipv6, inout ethernet_h ethernet, inout base_meta_t meta) {
    SELECTOR(".underlay_ecmp", underlay_ecmp, UNDERLAY_MEMBERS)

    action set_underlay_nexthop(port_t port, mac_addr_t src_mac, mac_addr_t dst_mac) {
        meta.egress_port = port;
        ethernet.src = src_mac;
        ethernet.dst = dst_mac;
    }
    action underlay_glean() {
        meta.punt_reason = PuntReason.UNDERLAY_GLEAN;
    }
    action underlay_no_route() {
        meta.drop_reason = DropReason.NO_ROUTE;
    }

    @name(".underlay")
    table underlay {
        key = {
            outer_ipv6.dst: lpm @name("dst");
            outer_ipv6.src: selector;
            outer_ipv6.dst: selector;
            outer_ipv6.flow_label: selector;
            outer_ipv6.next_header: selector;
        }
        actions = {
            @tableonly set_underlay_nexthop;
            @tableonly underlay_glean;
            @defaultonly underlay_no_route;
        }
        DEFAULT_OF_SELECTOR(underlay_no_route)
        size = UNDERLAY_TABLE_SIZE;
        implementation = SELECTED_BY(underlay_ecmp);
    }

    apply {
        APPLY_SELECTOR(underlay, underlay_no_route)
    }
}

#endif
