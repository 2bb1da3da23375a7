#ifndef FCN_TNA_PE_LOOK_UP_P4
#define FCN_TNA_PE_LOOK_UP_P4

#include "../../base/sizes.p4"
#include "../../forwarding/arrival.p4"
#include "../../forwarding/customer_arrival.p4"
#include "../../forwarding/packet_class.p4"
#include "../../forwarding/underlay_lookup.p4"
#include "../pe_metadata.p4"

// LookUp: whose a packet is, and what is done with it.
// Writes: what UnderlayLookup, Classify, CustomerArrival or Arrival, and the modes' steps write; drop; counter
//         notifications_received.
// When:   behind FromCustomer.
control LookUp(inout pe_pass_headers_t hdr, inout tna_pe_meta_t md, inout bit<3> drop) {
    @name(".notifications_received")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_received;

    UnderlayLookup() underlay_lookup;
    Classify() classify;
    CustomerArrival() customer_arrival;
    Arrival() arrival;
    LightNotified() light_notified;

    apply {
        underlay_lookup.apply(hdr.pe, md.meta);
        classify.apply(hdr.pe.outer_ipv6, md.meta);
        if (md.meta.packet_class == PacketClass.CUSTOMER) {
            customer_arrival.apply(hdr.pe.ipv4, hdr.pe.ipv6, md.meta);
        } else {
            arrival.apply(hdr.pe, md.meta);
        }
        if (md.meta.packet_class == PacketClass.NOTIFICATION && (md.meta.make_cnp
                || md.meta.base.drop_reason == DropReason.TRANSLATION_DISABLED)) {
            notifications_received.count(md.meta.base.notification_kind);
        }
        light_notified.apply(hdr.copy, hdr.pe.fast_cnp, md.meta, drop);
    }
}

#endif
