#ifndef FCN_PE_END_TUNNEL_P4
#define FCN_PE_END_TUNNEL_P4

#include "../../base/v1model/ipv4_checksum.p4"
#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/v1model/remember_tunnel.p4"
#include "../../forwarding/ecn_decap.p4"
#include "../../forwarding/tunnel_decap.p4"

// EndTunnel: the underlay's headers are removed; what they say of congestion is kept (SRF-2, FCN-18).
// Writes: what RememberTunnel, HoldTunnelEnd, TunnelDecap and EcnDecap write; the customer's ECN field, IPv4 checksum.
// When:   the packet has an underlay header.
control EndTunnel(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    RememberTunnel() remember_tunnel;
    HoldTunnelEnd() hold_tunnel_end;
    TunnelDecap() tunnel_decap;
    EcnDecap() ecn_decap;
    Ipv4Checksum() ipv4_checksum;

    apply {
        if (!meta.make_cnp) {
            remember_tunnel.apply(hdr.outer_ipv6, meta.base, hdr.ingress_pe);
            hold_tunnel_end.apply(hdr, meta, standard_metadata);
        }
        tunnel_decap.apply(hdr, meta);
        if (!meta.make_cnp) {
            ecn_decap.apply(meta);
            if (hdr.ipv4.isValid()) {
                ipv4_checksum.apply(hdr.ipv4.checksum, hdr.ipv4.ecn, (bit<2>)meta.customer_ecn);
                hdr.ipv4.ecn = meta.customer_ecn;
            } else {
                hdr.ipv6.ecn = meta.customer_ecn;
            }
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

#endif
