#ifndef FCN_TUNNEL_DECAP_P4
#define FCN_TUNNEL_DECAP_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"

// TunnelDecap: takes the underlay headers off (FCN-5).
// Reads:  customer headers.
// Writes: removes every underlay header; EtherType; meta.outer_ecn, meta.decapsulated.
// When:   the tunnel ends here, or a CNP takes the packet's place.
control TunnelDecap(inout pe_headers_t hdr, inout pe_meta_t meta) {
    action remove_underlay() {
        meta.outer_ecn = (Ecn)hdr.outer_ipv6.ecn;
        meta.decapsulated = true;
        hdr.outer_ipv6.setInvalid();
        REMOVE_SRH(hdr.srv6)
        REMOVE_TUNNEL(hdr.tunnel)
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
