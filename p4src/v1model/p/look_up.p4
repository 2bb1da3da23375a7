#ifndef FCN_P_LOOK_UP_P4
#define FCN_P_LOOK_UP_P4

#include "../../base/v1model/p.p4"
#include "../../fast_cnp/notification_port.p4"
#include "../../forwarding/endpoint.p4"
#include "../../forwarding/wan_arrival.p4"

// LookUp: what the tables know of a packet, and what is done with it.
// Reads:  headers, the parser's error.
// Writes: what its controls write.
// When:   behind Admit.
control LookUp(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    NotificationPort() notification_port;
    Endpoint() endpoint;
    HoldLookup() hold_lookup;
    WanArrival() wan_arrival;
    HoldMessage() hold_message;
    LinkMessage() link_message;

    apply {
        if (meta.base.drop_reason == DropReason.NONE) {
            meta.base.is_arp = hdr.ethernet.ether_type == EtherType.ARP;
            meta.base.is_malformed = meta.base.is_malformed
                || (standard_metadata.parser_error != error.NoError && meta.base.parse_more == ParseMore.NONE);
            if (hdr.tunnel.udp.isValid()) {
                notification_port.apply(hdr.tunnel.udp.dst_port, meta.base);
            }
            endpoint.apply(hdr.outer_ipv6.dst, meta.base);
            hold_lookup.apply(hdr, meta, standard_metadata);
            wan_arrival.apply(hdr.outer_ipv6, meta.base);
            if (meta.base.punt_reason == PuntReason.UNDERLAY_LOCAL) {
                hold_message.apply(hdr, meta, standard_metadata);
                link_message.apply(hdr, meta, standard_metadata);
            }
        }
    }
}

#endif
