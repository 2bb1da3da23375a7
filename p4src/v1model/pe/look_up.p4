#ifndef FCN_PE_LOOK_UP_P4
#define FCN_PE_LOOK_UP_P4

#include "../../base/v1model/pe.p4"
#include "../../end_con/end_con.p4"
#include "../../forwarding/arrival.p4"
#include "../../forwarding/customer_packet.p4"
#include "../../forwarding/gateway.p4"
#include "../../forwarding/underlay_lookup.p4"
#include "../../forwarding/vlan_tag.p4"

// FromWan: whose a packet of the underlay is, and what it tells this node.
// Writes: what UnderlayLookup, EndConCheck and the modes' messages write.
// When:   the packet has an underlay header, or is a copy of one that had.
control FromWan(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    EndConClaim() end_con_claim;
    EndConCheck() end_con_check;
    UnderlayLookup() underlay_lookup;
    HoldLookup() hold_lookup;
    HoldMessage() hold_message;
    PathMessage() path_message;

    apply {
        end_con_claim_t claim;
        bool is_sound;
        end_con_claim.apply(hdr, meta, claim, is_sound);
        underlay_lookup.apply(hdr, meta);
        hold_lookup.apply(hdr, meta, standard_metadata);
        if (meta.base.copy_kind == NotificationKind.NONE && meta.base.destination == Destination.END_CON) {
            end_con_check.apply(hdr, claim, is_sound, meta);
        }
        if (meta.base.role == Role.CORE && meta.base.destination == Destination.NODE && meta.base.is_addressed
                && !meta.base.is_malformed) {
            hold_message.apply(hdr, meta, standard_metadata);
            path_message.apply(hdr, meta, standard_metadata);
        }
    }
}

// LookUp: what the tables know of a packet, and what is done with it.
// Reads:  headers; meta.base.role, copy_kind.
// Writes: what its controls write.
// When:   where a packet goes is not known yet.
control LookUp(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    CustomerPacket() customer_packet;
    PathFlow() path_flow;
    Gateway() gateway;
    Advertisement() advertisement;
    FromWan() from_wan;
    Arrival() arrival;
    LightNotified() light_notified;
    VlanTag() vlan_tag;

    apply {
        customer_packet.apply(hdr, meta);
        path_flow.apply(hdr, meta, standard_metadata);
        if (hdr.neighbor.arp.isValid() || hdr.neighbor.nd.isValid()) {
            meta.solicitation_sound = standard_metadata.checksum_error == 0;
            gateway.apply(hdr, meta);
            advertisement.apply(hdr, meta);
        }
        if (hdr.outer_ipv6.isValid()) {
            from_wan.apply(hdr, meta, standard_metadata);
        }
        if (!meta.base.is_done) {
            arrival.apply(hdr, meta);
            light_notified.apply(hdr, meta, standard_metadata);
        }
        if (meta.answered) {
            events.count(meta.event);
            vlan_tag.apply(hdr.ethernet, hdr.vlan, meta);
        }
    }
}

#endif
