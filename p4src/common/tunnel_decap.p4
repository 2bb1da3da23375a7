#ifndef FCN_TUNNEL_DECAP_P4
#define FCN_TUNNEL_DECAP_P4

// TunnelDecap: takes the underlay headers off (FCN-5).
// Reads:  customer headers.
// Writes: removes every underlay header; EtherType; meta.outer_ecn, meta.decapsulated.
// When:   the tunnel ends here, or a CNP takes the packet's place.
control TunnelDecap(inout pe_headers_t hdr, inout meta_t meta) {
    action remove_underlay() {
        meta.outer_ecn = (Ecn)hdr.outer_ipv6.ecn;
        meta.decapsulated = true;
        hdr.outer_ipv6.setInvalid();
        hdr.srh.setInvalid();
        hdr.segment0.setInvalid();
        hdr.segment1.setInvalid();
        hdr.segment2.setInvalid();
        hdr.segment3.setInvalid();
        hdr.gre.setInvalid();
        hdr.gre_key.setInvalid();
        hdr.outer_udp.setInvalid();
        hdr.vxlan.setInvalid();
        hdr.mpls0.setInvalid();
        hdr.mpls1.setInvalid();
        hdr.inner_ethernet.setInvalid();
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
