#ifndef FCN_PE_LOOK_UP_P4
#define FCN_PE_LOOK_UP_P4

#include "../../base/v1model/pe.p4"
#include "../../end_con/end_con.p4"
#include "../../forwarding/arrival.p4"
#include "../../forwarding/customer_packet.p4"
#include "../../forwarding/packet_class.p4"
#include "../../forwarding/underlay_lookup.p4"

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

#endif
