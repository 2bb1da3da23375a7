#ifndef FCN_PE_ADMIT_P4
#define FCN_PE_ADMIT_P4

#include "../../base/v1model/pe.p4"
#include "../../forwarding/port_mac.p4"
#include "../../forwarding/port_role.p4"
#include "../../forwarding/v1model/frame_length.p4"
#include "tell_apart.p4"

// Admit: whose port a packet came from, whether it is for this node, and whether its lengths are right.
// Reads:  port, headers.
// Writes: meta.base.ingress_port, now, vlan_id, role, vrf, is_addressed, drop_reason; what TellApart writes. Ends the pass of a
//         customer's own tunnel, which is parsed again as a customer's packet.
// When:   a packet from the wire.
control Admit(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    LinkHeard() link_heard;
    PortRole() port_role;
    PortMac() port_mac;
    OtherStation() other_station;
    FrameLength() frame_length;
    HoldArrival() hold_arrival;
    TellApart() tell_apart;

    apply {
        if (meta.flat == 0 && meta.base.parse_more == ParseMore.NONE) {
            meta.base.ingress_port = standard_metadata.ingress_port;
            port_rx.count(meta.base.ingress_port);
            meta.base.now = standard_metadata.ingress_global_timestamp;
            link_heard.apply(hdr, meta, standard_metadata);
        }
        if (hdr.vlan.isValid()) {
            meta.base.vlan_id = hdr.vlan.vlan_id;
        }
        port_role.apply(meta.base);
        if (meta.base.role == Role.DC) {
            // ICMPv6 of FANTEL's type from a customer is his own.
            meta.base.notification_kind = NotificationKind.NONE;
            if (hdr.outer_ipv6.isValid()) {
                meta.flat = 1;
                resubmit_preserving_field_list(KEEP_FLAT);
                exit;
            }
        }
        port_mac.apply(hdr.ethernet, meta.base);
        other_station.apply(hdr.ethernet, meta.base);
        if (meta.base.drop_reason == DropReason.NONE) {
            frame_length.apply(
                hdr.vlan, hdr.outer_ipv6, hdr.ipv4, hdr.ipv6, standard_metadata.packet_length, meta.base);
        }
        hold_arrival.apply(hdr, meta, standard_metadata);
        tell_apart.apply(hdr, meta, standard_metadata);
    }
}

#endif
