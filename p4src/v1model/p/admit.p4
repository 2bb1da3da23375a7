#ifndef FCN_P_ADMIT_P4
#define FCN_P_ADMIT_P4

#include "../../base/v1model/p.p4"
#include "../../forwarding/port_mac.p4"
#include "../../forwarding/port_role.p4"

// Admit: whether a packet is for this node, and whether its lengths are right.
// Reads:  port, headers.
// Writes: meta.base.ingress_port, now, role, is_addressed, drop_reason.
// When:   a packet from the wire.
control Admit(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    LinkHeard() link_heard;
    PortRole() port_role;
    PortMac() port_mac;
    OtherStation() other_station;

    apply {
        if (meta.base.parse_more == ParseMore.NONE) {
            meta.base.ingress_port = standard_metadata.ingress_port;
            port_rx.count(meta.base.ingress_port);
            meta.base.now = standard_metadata.ingress_global_timestamp;
        }
        link_heard.apply(hdr, meta, standard_metadata);
        // A packet shorter than its frame is followed by padding.
        if (hdr.outer_ipv6.isValid() && (bit<32>)hdr.outer_ipv6.payload_len
                + (bit<32>)(ETHERNET_LENGTH + IPV6_LENGTH) > standard_metadata.packet_length) {
            meta.base.drop_reason = DropReason.BAD_LENGTH;
        }
        port_role.apply(meta.base);
        port_mac.apply(hdr.ethernet, meta.base);
        other_station.apply(hdr.ethernet, meta.base);
    }
}

#endif
