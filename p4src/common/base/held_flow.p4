#ifndef FCN_HELD_FLOW_P4
#define FCN_HELD_FLOW_P4

// HeldFlow: the flow in the tunnel that a hold would be about, by the five-tuple of its UDP datagrams. Customers may
// use the same addresses, so the label has the tunnel's ID for the customer: VNI, key, label or service SID, folded
// to 20 bits. It is the same at every node on the way.
// Reads:  underlay headers, the customer's IPv4 or IPv6 and UDP headers.
// Writes: meta.traffic; meta.is_named: false where the tunnel does not show a UDP datagram.
// When:   before Hold and before an ARN, in mode flow.
control HeldFlow(
        in ipv6_h outer_ipv6, in srv6_headers_t srv6, in tunnel_headers_t tunnel, in ipv4_h ipv4, in ipv6_h ipv6,
        in udp_h udp, inout flow_control_meta_t meta) {
    ipv6_addr_t tunnel_id;

    action of_tunnel() {
        meta.traffic.label = tunnel_id[19:0] ^ tunnel_id[39:20] ^ tunnel_id[59:40] ^ tunnel_id[79:60]
            ^ tunnel_id[99:80] ^ tunnel_id[119:100] ^ (12w0 ++ tunnel_id[127:120]);
    }
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
        meta.is_named = outer_ipv6.isValid() && udp.isValid();
        if (meta.is_named) {
            if (tunnel.vxlan.isValid()) {
                tunnel_id = 104w0 ++ tunnel.vxlan.vni;
            } else if (tunnel.gre_key.isValid()) {
                tunnel_id = 96w0 ++ tunnel.gre_key.key;
            } else if (tunnel.mpls1.isValid()) {
                tunnel_id = 108w0 ++ tunnel.mpls1.label;
            } else if (tunnel.mpls0.isValid()) {
                tunnel_id = 108w0 ++ tunnel.mpls0.label;
            } else if (srv6.segment0.isValid()) {
                tunnel_id = srv6.segment0.sid;
            } else {
                tunnel_id = outer_ipv6.dst;
            }
            of_tunnel();
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
