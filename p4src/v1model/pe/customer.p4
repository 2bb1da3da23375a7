// A customer's packet: from its port into a tunnel, or out of one to its host.
#ifndef FCN_PE_CUSTOMER_P4
#define FCN_PE_CUSTOMER_P4

#include "../../base/v1model/pe.p4"
#include "../../forwarding/customer_arrival.p4"
#include "../../forwarding/customer_packet.p4"
#include "../../forwarding/gateway.p4"
#include "../../forwarding/tunnel_encap.p4"
#include "../../forwarding/v1model/entropy.p4"
#include "../../forwarding/vlan_tag.p4"
#include "../../forwarding/vrf_routing.p4"
#include "../../learning/flow_table.p4"
#include "from_wan.p4"
#include "learn_flow.p4"

// Arrive: what is done with a packet of a data centre; everything else is FromWan's.
// Reads:  meta.base.role, is_settled; headers.
// Writes: what CustomerArrival and FromWan write. Ends the pass of a customer's own tunnel, which is parsed again as a
//         customer's packet.
// When:   every packet.
control Arrive(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    CustomerPacket() customer_packet;
    Gateway() gateway;
    Advertisement() advertisement;
    VlanTag() vlan_tag;
    CustomerArrival() customer_arrival;
    FromWan() from_wan;

    apply {
        if (meta.base.role == Role.DC && !meta.base.is_settled && meta.base.drop_reason == DropReason.NONE) {
            if (hdr.outer_ipv6.isValid()) {
                meta.flat = 1;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
            if (!hdr.ipv4.isValid()) {
                if (!hdr.udp.isValid()) {
                    // ICMPv6 of FANTEL's type from a customer is his own.
                    meta.base.notification_kind = NotificationKind.NONE;
                }
                meta.solicitation_sound = standard_metadata.checksum_error == 0;
                gateway.apply(hdr, meta);
                advertisement.apply(hdr, meta);
                if (meta.answered) {
                    events.count(meta.event);
                    vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
                }
            }
            customer_packet.apply(hdr, meta);
            customer_arrival.apply(hdr.ipv4, hdr.ipv6, meta);
        } else {
            from_wan.apply(hdr, meta, standard_metadata);
        }
    }
}

// CustomerRewrite: one hop further.
// Reads:  meta.hop_limit.
// Writes: TTL or hop limit, IPv4 checksum; meta.base.drop_reason.
// When:   the packet goes on to a host or into a tunnel and was not made here.
control CustomerRewrite(inout ipv4_h ipv4, inout ipv6_h ipv6, inout pe_meta_t meta) {
    apply {
        if (meta.hop_limit <= 1) {
            meta.base.drop_reason = DropReason.TTL_EXPIRED;
        } else if (ipv4.isValid()) {
            // RFC 1624: the TTL is the upper octet of its word, so the checksum grows by 0x0100, and by 1 where that is
            // 0xffff or more.
            ipv4.ttl = ipv4.ttl - 1;
            ipv4.checksum = ipv4.checksum + 0x0100 + (bit<16>)(((bit<32>)ipv4.checksum + 0x0101) >> 16);
        } else {
            ipv6.hop_limit = ipv6.hop_limit - 1;
        }
    }
}

// EnterTunnel: a customer's packet gets its path, its flow label, and its underlay header (FCN-2, FCN-5, FAN-4). Flows are
// reported for learning (FCN-3).
// Reads:  customer headers, meta.tunnel.
// Writes: what its controls write; meta.base.forward (UNDERLAY) or meta.base.drop_reason.
// When:   meta.base.forward == Forward.TUNNEL.
control EnterTunnel(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PathChosen() path_chosen;
    FlowTable() flow_table;
    LightFlow() light_flow;
    TunnelEncap() tunnel_encap;
    HoldEncap() hold_encap;
    LearnFlow() learn_flow;
    Entropy() entropy;

    apply {
        path_chosen.apply(hdr, meta, standard_metadata);
        flow_table.apply(hdr.ipv4, hdr.ipv6, hdr.roce.bth, meta);
        light_flow.apply(hdr, meta, standard_metadata);
        tunnel_encap.apply(hdr, meta);
        hold_encap.apply(hdr, meta, standard_metadata);
        if (!meta.flow_label_assigned || meta.flow_watched) {
            learn_flow.apply(hdr, meta, standard_metadata);
        }
        // The hash is expensive here, and not needed for a labelled flow in SRv6 or GRE.
        if (!meta.flow_label_assigned || hdr.tunnel.udp.isValid()) {
            entropy.apply(hdr, meta);
            if (!meta.flow_label_assigned) {
                hdr.outer_ipv6.flow_label = meta.entropy[19:0] & ENTROPY_LABEL_MASK;
            }
            if (hdr.tunnel.udp.isValid()) {
                hdr.tunnel.udp.src_port = meta.entropy[15:0] | ENTROPY_PORTS;
            }
        }
    }
}

// Route: a customer's packet, or a CNP for a customer's host, is routed in its VRF.
// Reads:  meta.base.forward; meta.make_cnp.
// Writes: what its controls write.
// When:   behind Arrive.
control Route(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    VrfRouting() vrf_routing;
    CustomerRewrite() customer_rewrite;
    EnterTunnel() enter_tunnel;
    VlanTag() vlan_tag;

    apply {
        if (meta.base.forward == Forward.VRF && meta.base.drop_reason == DropReason.NONE) {
            vrf_routing.apply(hdr.ipv4, hdr.ipv6, hdr.ethernet, meta);
            if (meta.base.drop_reason == DropReason.NONE && meta.base.punt_reason == PuntReason.NONE
                    && !meta.make_cnp) {
                customer_rewrite.apply(hdr.ipv4, hdr.ipv6, meta);
            }
            if (meta.base.forward != Forward.TUNNEL) {
                vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
            } else if (meta.base.drop_reason == DropReason.NONE) {
                enter_tunnel.apply(hdr, meta, standard_metadata);
            }
        }
    }
}

#endif
