// A packet of the WAN, or a copy of one that was in a congested queue here.
#ifndef FCN_PE_FROM_WAN_P4
#define FCN_PE_FROM_WAN_P4

#include "../../base/v1model/ipv4_checksum.p4"
#include "../../base/v1model/pe.p4"
#include "../../end_con/end_con.p4"
#include "../../fast_cnp/v1model/fast_cnp_checksum.p4"
#include "../../fast_cnp/v1model/sender_notification.p4"
#include "../../fast_cnp/v1model/tell_ingress_pe.p4"
#include "../../forwarding/arrival.p4"
#include "../../forwarding/customer_packet.p4"
#include "../../forwarding/ecn_decap.p4"
#include "../../forwarding/packet_class.p4"
#include "../../forwarding/srv6_end.p4"
#include "../../forwarding/tunnel_decap.p4"
#include "../../forwarding/underlay_lookup.p4"
#include "take_as_underlay.p4"

// FromCorePort: a Fast CNP is checked as it came; then every IPv6 header is the underlay's.
// Reads:  headers; meta.base.notification_kind, meta.parse_failed.
// Writes: meta.notification_sound and notify_label of a Fast CNP; hdr.outer_ipv6; meta.base.is_malformed.
// When:   a packet from a core port.
control FromCorePort(inout pe_headers_t hdr, inout pe_meta_t meta) {
    FastCnpChecksum() fast_cnp_checksum;
    TakeAsUnderlay() take_as_underlay;

    apply {
        if (hdr.fast_cnp.isValid() && meta.base.notification_kind == NotificationKind.FAST_CNP) {
            bit<16> checksum;
            fast_cnp_checksum.apply(hdr.ipv6, hdr.udp, hdr.fast_cnp, checksum);
            meta.notification_sound = checksum == hdr.udp.checksum
                && hdr.ipv6.payload_len == FAST_CNP_UDP_LENGTH;
            meta.notify_label = hdr.fast_cnp.word[31:12];
        }
        if (!hdr.outer_ipv6.isValid() && hdr.ipv6.isValid()) {
            take_as_underlay.apply(hdr);
        }
        if (hdr.outer_ipv6.isValid()) {
            meta.base.is_malformed = hdr.outer_ipv6.version != 6;
        } else {
            meta.base.is_malformed = meta.parse_failed;
        }
    }
}

// LookUp: whose a packet of the underlay is, what it tells this node, and what is done with it.
// Writes: what UnderlayLookup, EndConCheck, Arrival and the modes' messages write.
// When:   where the packet goes is not known yet.
control LookUp(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    CustomerPacket() customer_packet;
    PathFlow() path_flow;
    EndConClaim() end_con_claim;
    EndConCheck() end_con_check;
    UnderlayLookup() underlay_lookup;
    HoldLookup() hold_lookup;
    HoldMessage() hold_message;
    PathMessage() path_message;
    Classify() classify;
    Arrival() arrival;
    LightNotified() light_notified;

    apply {
        customer_packet.apply(hdr, meta);
        path_flow.apply(hdr, meta, standard_metadata);
        if (hdr.outer_ipv6.isValid()) {
            end_con_claim_t claim;
            bool is_sound;
            end_con_claim.apply(hdr, meta, claim, is_sound);
            underlay_lookup.apply(hdr, meta);
            hold_lookup.apply(hdr, meta, standard_metadata);
            if (meta.base.copy_kind == NotificationKind.NONE && meta.base.destination == Destination.END_CON) {
                end_con_check.apply(hdr, claim, is_sound, meta);
            }
            if (meta.base.role == Role.CORE && meta.base.destination == Destination.NODE
                    && meta.base.is_addressed && !meta.base.is_malformed) {
                hold_message.apply(hdr, meta, standard_metadata);
                path_message.apply(hdr, meta, standard_metadata);
            }
        }
        if (!meta.base.is_done) {
            classify.apply(hdr.outer_ipv6, meta);
            arrival.apply(hdr, meta);
            light_notified.apply(hdr, meta, standard_metadata);
        }
    }
}

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

// FromWan: a tunnel ends here, a CNP takes the packet's place, or it goes on to its next segment.
// Reads:  meta.base.role, is_settled; headers.
// Writes: what its controls write.
// When:   every packet that is no customer's.
control FromWan(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    FromCorePort() from_core_port;
    LookUp() look_up;
    PathUpdate() path_update;
    EndTunnel() end_tunnel;
    SenderNotification() sender_notification;
    Srv6End() srv6_end;

    apply {
        if (meta.base.role == Role.CORE) {
            from_core_port.apply(hdr, meta);
        }
        if (!meta.base.is_settled && meta.base.drop_reason == DropReason.NONE) {
            look_up.apply(hdr, meta, standard_metadata);
        }
        path_update.apply(hdr, meta, standard_metadata);
        if (meta.base.drop_reason == DropReason.NONE) {
            if (meta.base.forward == Forward.VRF) {
                if (hdr.outer_ipv6.isValid()) {
                    end_tunnel.apply(hdr, meta, standard_metadata);
                }
                if (meta.make_cnp) {
                    sender_notification.apply(hdr, meta, meta.base.now);
                }
            } else if (meta.base.forward == Forward.UNDERLAY && meta.base.destination == Destination.END_SID) {
                srv6_end.apply(hdr.outer_ipv6, hdr.srv6, meta.base.drop_reason);
            }
        }
    }
}

#endif
