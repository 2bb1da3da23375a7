#ifndef FCN_FANTEL_UNDERLAY_P4
#define FCN_FANTEL_UNDERLAY_P4

#include "../../../base/v1model/p.p4"
#include "../../messages/fantel_profile.p4"

// FantelUnderlay: the message goes to the ingress PE of the path.
// Reads:  hdr.notice.ingress_pe.
// Writes: Ethernet type, underlay header; what FantelProfile writes. The clock's header and the SRH end.
// When:   the packet that the message is made of is named, if it is.
control FantelUnderlay(inout p_headers_t hdr) {
    FantelProfile() fantel_profile;

    apply {
        hdr.clock.setInvalid();
        REMOVE_SRH(hdr.srv6)
        hdr.ethernet.ether_type = EtherType.IPV6;
        hdr.outer_ipv6.setValid();
        hdr.tunnel.udp.setValid();
        fantel_profile.apply(hdr.outer_ipv6, hdr.tunnel.udp, hdr.notice, hdr.fantel.about);
        hdr.outer_ipv6.version = 6;
        hdr.outer_ipv6.ecn = Ecn.NOT_ECT;
        hdr.outer_ipv6.flow_label = 0;
        hdr.outer_ipv6.hop_limit = FANTEL_HOP_LIMIT;
        hdr.outer_ipv6.dst = hdr.notice.ingress_pe;
    }
}

#endif
