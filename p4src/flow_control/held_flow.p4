#ifndef FCN_HELD_FLOW_P4
#define FCN_HELD_FLOW_P4

#include "../base/headers.p4"
#include "flow_control_types.p4"

// HeldFlow: the flow in the tunnel that a hold would be about, by the five-tuple of its UDP datagrams. Customers may
// use the same addresses, so the label says whose flow it is, alike at every node on the way: CustomerLabel of the
// service SID, or of the tunnel's far end and its VNI, key or label.
// Reads:  underlay headers, the customer's IPv4 or IPv6 and UDP headers; hidden: the tunnel is of a shape that is not
//         looked into, or the packet is cut off.
// Writes: meta.traffic; meta.is_named: false where the tunnel does not show a UDP datagram.
// When:   before Hold and before an ARN, in mode flow.
control HeldFlow(
        in ipv6_h outer_ipv6, in srv6_headers_t srv6, in tunnel_headers_t tunnel, in ipv4_h ipv4, in ipv6_h ipv6,
        in udp_h udp, in bool hidden, inout flow_control_meta_t meta) {
    CustomerLabel() customer_label;

    action of_ipv4() {
        meta.traffic.ip_version = 4;
        meta.traffic.src = 96w0 ++ ipv4.src;
        meta.traffic.dst = 96w0 ++ ipv4.dst;
    }
    action of_ipv6() {
        meta.traffic.ip_version = 6;
        meta.traffic.src = ipv6.src;
        meta.traffic.dst = ipv6.dst;
    }
    action of_udp() {
        meta.traffic.protocol = IpProtocol.UDP;
        meta.traffic.src_port = udp.src_port;
        meta.traffic.dst_port = udp.dst_port;
    }

    apply {
        meta.traffic = NO_TRAFFIC;
        meta.is_named = !hidden && outer_ipv6.isValid() && udp.isValid() && (ipv4.isValid() || ipv6.isValid());
        if (meta.is_named) {
            ipv6_addr_t end = outer_ipv6.dst;
            bit<32> number = 0;
            if (tunnel.vxlan.isValid()) {
                number = 8w0 ++ tunnel.vxlan.vni;
            } else if (tunnel.gre_key.isValid()) {
                number = tunnel.gre_key.key;
            } else if (tunnel.mpls1.isValid()) {
                number = 12w0 ++ tunnel.mpls1.label;
            } else if (tunnel.mpls0.isValid()) {
                number = 12w0 ++ tunnel.mpls0.label;
            } else if (srv6.segment0.isValid()) {
                end = srv6.segment0.sid;
            }
            customer_label.apply(end, number, meta.traffic.label);
            of_udp();
            if (ipv4.isValid()) {
                of_ipv4();
            } else {
                of_ipv6();
            }
        }
    }
}

#endif
