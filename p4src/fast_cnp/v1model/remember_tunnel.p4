#ifndef FCN_REMEMBER_TUNNEL_P4
#define FCN_REMEMBER_TUNNEL_P4

#include "../../base/v1model/pe.p4"
#include "tell_ingress_pe.p4"

// RememberTunnel
// Reads:  underlay header; base.mode.
// Writes: hdr.ingress_pe, of an ECN-capable packet with an FCN label (FCN-8).
// When:   a tunnel ends here, before TunnelDecap.
control RememberTunnel(in ipv6_h outer_ipv6, in base_meta_t base, inout ingress_pe_h ingress_pe) {
    apply {
        if (IS_FOR_INGRESS_PE(base.mode.congestion_kind) && outer_ipv6.flow_label & FCN_LABEL_BIT != 0
                && outer_ipv6.ecn != Ecn.NOT_ECT) {
            ingress_pe.setValid();
            ingress_pe.address = outer_ipv6.src;
            ingress_pe.label = outer_ipv6.flow_label;
        }
    }
}

#endif
