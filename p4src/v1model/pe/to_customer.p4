#ifndef FCN_PE_TO_CUSTOMER_P4
#define FCN_PE_TO_CUSTOMER_P4

#include "../../base/v1model/pe.p4"
#include "../../base/v1model/ipv4_checksum.p4"
#include "../../fast_cnp/v1model/sender_notification.p4"
#include "../../fast_cnp/v1model/tell_ingress_pe.p4"
#include "../../forwarding/customer_packet.p4"
#include "../../forwarding/ecn_decap.p4"
#include "../../forwarding/tunnel_decap.p4"
#include "../../forwarding/vlan_tag.p4"
#include "../../forwarding/vrf_routing.p4"

// EndTunnel: the underlay's headers are removed; what they say of congestion is kept (SRF-2, FCN-18).
// Writes: what RememberTunnel, TunnelDecap and EcnDecap write.
// When:   the packet has an underlay header.
control EndTunnel(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    RememberTunnel() remember_tunnel;
    TunnelDecap() tunnel_decap;
    EcnDecap() ecn_decap;

    apply {
        if (!meta.make_cnp) {
            remember_tunnel.apply(hdr.outer_ipv6, meta.base, hdr.ingress_pe);
        }
        tunnel_decap.apply(hdr, meta);
        if (!meta.make_cnp) {
            ecn_decap.apply(meta);
        }
        // What waited for a data centre was counted when it came.
        if (meta.event != Event.NONE && meta.base.parse_more != WAITED_FOR_DC) {
            events.count(meta.event);
        }
        if (meta.packet_class == PacketClass.NOTIFICATION) {
            notifications_received.count(meta.base.notification_kind);
        }
    }
}

// ToCustomer: a customer's packet is routed in its VRF; a tunnel ends; a CNP takes the packet's place.
// Reads:  meta.make_cnp, meta.event, meta.packet_class, meta.hop_limit.
// Writes: what its controls write.
// When:   meta.base.forward == Forward.VRF.
control ToCustomer(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    EndTunnel() end_tunnel;
    SenderNotification() sender_notification;
    VrfRouting() vrf_routing;
    VlanTag() vlan_tag;
    Ipv4Checksum() ipv4_checksum;
    CustomerRewrite() customer_rewrite;

    apply {
        if (hdr.outer_ipv6.isValid()) {
            end_tunnel.apply(hdr, meta, standard_metadata);
        }
        if (meta.make_cnp) {
            sender_notification.apply(hdr, meta, meta.base.now);
        }
        if (meta.base.drop_reason == DropReason.NONE) {
            vrf_routing.apply(hdr.ipv4, hdr.ipv6, hdr.ethernet, meta);
            vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
            if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason == PuntReason.NONE
                    && !meta.make_cnp) {
                if (meta.hop_limit <= 1) {
                    meta.base.drop_reason = DropReason.TTL_EXPIRED;
                } else {
                    if (hdr.ipv4.isValid()) {
                        ipv4_checksum.apply(hdr.ipv4.checksum, hdr.ipv4.ecn, (bit<2>)meta.customer_ecn, TTL_STEP);
                    }
                    customer_rewrite.apply(hdr.ipv4, hdr.ipv6, meta);
                }
            }
        }
    }
}

#endif
