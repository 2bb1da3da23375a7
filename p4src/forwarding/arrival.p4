#ifndef FCN_ARRIVAL_P4
#define FCN_ARRIVAL_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../fast_cnp/notification_arrival.p4"
#include "tunnel_arrival.p4"
#include "wan_arrival.p4"

// Arrival: what is done with a packet that is no customer's, by the table of its class: WanArrival, NotificationArrival or
// TunnelArrival.
// Reads:  meta.packet_class; header validity; what the parser, PortRole, NotificationPort, CustomerPacket, DomainMode and
//         UnderlayLookup found, but not what FlowByLabel found.
// Writes: meta.base.forward, meta.make_cnp, meta.event, meta.base.egress_port,
//         meta.base.punt_reason, meta.base.drop_reason; outer hop limit.
// When:   behind Classify.
control Arrival(inout pe_headers_t hdr, inout pe_meta_t meta) {
    WanArrival() wan_arrival;
    NotificationArrival() notification_arrival;
    TunnelArrival() tunnel_arrival;

    // FCN-12: this node tells the sender itself.
    action notify_own_sender() {
        meta.event = Event.OWN_CONGESTION;
        meta.make_cnp = true;
        meta.base.forward = Forward.VRF;
    }

    apply {
        if (meta.packet_class == PacketClass.WAN) {
            wan_arrival.apply(hdr.outer_ipv6, meta.base);
        } else if (meta.packet_class == PacketClass.TUNNEL_END) {
            tunnel_arrival.apply(hdr.srv6.srh, meta);
        } else if (meta.packet_class == PacketClass.NOTIFICATION) {
            notification_arrival.apply(meta);
        } else {
            notify_own_sender();
        }
    }
}

#endif
