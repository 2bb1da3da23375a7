#ifndef FCN_ARN_UPSTREAM_P4
#define FCN_ARN_UPSTREAM_P4

#include "../base/headers.p4"
#include "../base/sizes.p4"
#include "flow_control_types.p4"

// ArnUpstream: the neighbour behind the port a packet came from (SRF-7).
// Reads:  meta.upstream_port.
// Writes: meta.has_upstream; the headers with which an ARN goes to that neighbour.
// When:   packets of the underlay in egress, while flow control is on; before Arn.
control ArnUpstream(inout envelope_h envelope, inout flow_control_meta_t meta) {
    action set_arn_upstream(
            mac_addr_t src_mac, mac_addr_t dst_mac, ipv6_addr_t src, ipv6_addr_t dst) {
        meta.has_upstream = true;
        envelope.setValid();
        envelope.src_mac = src_mac;
        envelope.dst_mac = dst_mac;
        envelope.src = src;
        envelope.dst = dst;
    }
    action no_upstream() {
        meta.has_upstream = false;
    }

    PLACED(arn_upstream) @name(".arn_upstream")
    table arn_upstream {
        key = {
            meta.upstream_port: exact @name("port");
        }
        actions = {
            @tableonly set_arn_upstream;
            @defaultonly no_upstream;
        }
        const default_action = no_upstream;
        size = PORT_TABLE_SIZE;
    }

    apply {
        arn_upstream.apply();
    }
}

#endif
