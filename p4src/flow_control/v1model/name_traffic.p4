#ifndef FCN_NAME_TRAFFIC_P4
#define FCN_NAME_TRAFFIC_P4

#include "customer_label.p4"
#include "../flow_control_types.p4"
#include "../held_flow.p4"
#include "../held_traffic.p4"

// NameTraffic: what a hold of this packet would be about, as the neighbour behind the link sees it.
// Reads:  headers; dst: underlay destination as on that link.
// Writes: meta.flow_control.traffic, is_named.
// When:   before Hold, and before an ARN.
control NameTraffic(inout headers_t hdr, inout meta_t meta, in ipv6_addr_t dst) {
    HeldTraffic() held_traffic;
    HeldFlow() held_flow;

    apply {
        if (meta.flow_control.mode == FlowControl.FLOW) {
            held_flow.apply(
                hdr.outer_ipv6, hdr.srv6, hdr.tunnel, INNER(hdr).ipv4, INNER(hdr).ipv6, INNER(hdr).udp,
                FLOW_IS_HIDDEN(hdr, meta), meta.flow_control);
        } else {
            held_traffic.apply(hdr.outer_ipv6, dst, hdr.tunnel.udp, meta.flow_control);
        }
    }
}

#endif
