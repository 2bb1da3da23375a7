#ifndef FCN_TNA_PE_REWRITE_P4
#define FCN_TNA_PE_REWRITE_P4

#include "../../forwarding/gateway.p4"
#include "../../forwarding/tna/customer_rewrite.p4"
#include "../../forwarding/tunnel_encap.p4"
#include "../../forwarding/underlay.p4"
#include "../../forwarding/vlan_tag.p4"
#include "../pe_metadata.p4"

// Rewrite: the headers with which a packet leaves: of a tunnel, one hop further, of the next hop.
// Reads:  md.meta.base.forward, role, punt_reason; md.meta.make_cnp, decapsulated, answered.
// Writes: what its controls write.
// When:   behind Route; behind Report, because TunnelEncap sends the packet on to Underlay.
control Rewrite(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md) {
    TunnelEncap() tunnel_encap;
    CustomerRewrite() customer_rewrite;
    VlanTag() vlan_tag;
    Underlay() underlay;
    Advertisement() advertisement;

    apply {
        if (md.meta.base.forward == Forward.TUNNEL) {
            tunnel_encap.apply(hdr.pe, md.meta);
        }
        if ((md.meta.base.role == Role.DC || md.meta.decapsulated) && !md.meta.make_cnp
                && !md.meta.answered && md.meta.base.punt_reason == PuntReason.NONE) {
            customer_rewrite.apply(hdr.pe.ipv4, hdr.pe.ipv6, md.meta);
        }
        vlan_tag.apply(hdr.pe.ethernet, hdr.pe.vlan, md.meta);
        if (md.meta.base.forward == Forward.UNDERLAY) {
            underlay.apply(hdr.pe.outer_ipv6, hdr.pe.ethernet, md.meta.base);
        }
        advertisement.apply(hdr.pe, md.meta);
    }
}

#endif
