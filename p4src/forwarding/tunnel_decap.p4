#ifndef FCN_TUNNEL_DECAP_P4
#define FCN_TUNNEL_DECAP_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/types.p4"

// TunnelDecap: takes the underlay headers off (FCN-5).
// Reads:  customer headers.
// Writes: removes every underlay header; EtherType; meta.outer_ecn, meta.decapsulated.
// When:   the tunnel ends here, or a CNP takes the packet's place.
control TunnelDecap(inout pe_headers_t hdr, inout pe_meta_t meta) {
    action remove_underlay() {
        meta.outer_ecn = (Ecn)hdr.outer_ipv6.ecn;
        meta.decapsulated = true;
        hdr.outer_ipv6.setInvalid();
        hdr.srv6.srh.setInvalid();
        hdr.srv6.segment0.setInvalid();
        hdr.srv6.segment1.setInvalid();
        hdr.srv6.segment2.setInvalid();
        hdr.srv6.segment3.setInvalid();
        hdr.tunnel.gre.setInvalid();
        hdr.tunnel.gre_key.setInvalid();
        hdr.tunnel.udp.setInvalid();
        hdr.tunnel.vxlan.setInvalid();
        hdr.tunnel.mpls0.setInvalid();
        hdr.tunnel.mpls1.setInvalid();
        hdr.tunnel.inner_ethernet.setInvalid();
    }
    action uncover_ipv4() {
        remove_underlay();
        hdr.ethernet.ether_type = EtherType.IPV4;
    }
    action uncover_ipv6() {
        remove_underlay();
        hdr.ethernet.ether_type = EtherType.IPV6;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            uncover_ipv4();
        } else {
            uncover_ipv6();
        }
    }
}

#endif
