#ifndef FCN_TNA_PE_END_TUNNEL_P4
#define FCN_TNA_PE_END_TUNNEL_P4

#include "../../fast_cnp/tna/sender_notification.p4"
#include "../../forwarding/tunnel_decap.p4"
#include "../pe_metadata.p4"

// EndTunnel: the underlay's headers are removed; where the sender is to be told, a CNP takes the packet's place.
// Reads:  md.meta.make_cnp, base.forward.
// Writes: what TunnelDecap and SenderNotification write; md.is_cnp_ipv6.
// When:   behind LookUp.
control EndTunnel(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    TunnelDecap() tunnel_decap;
    SenderNotification() sender_notification;

    apply {
        if (md.meta.make_cnp
                || (md.meta.base.forward == Forward.VRF && hdr.pe.outer_ipv6.isValid())) {
            tunnel_decap.apply(hdr.pe, md.meta);
        }
        sender_notification.apply(hdr.pe, md);
        if (md.meta.make_cnp && !md.meta.cnp_is_ipv4) {
            md.is_cnp_ipv6 = true;
        }
    }
}

#endif
