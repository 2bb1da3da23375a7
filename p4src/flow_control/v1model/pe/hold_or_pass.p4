#ifndef FCN_FLOW_CONTROL_PE_HOLD_OR_PASS_P4
#define FCN_FLOW_CONTROL_PE_HOLD_OR_PASS_P4

#include "../../../base/v1model/pe.p4"
#include "../hold/park.p4"
#include "../holding.p4"
#include "../name_traffic.p4"
#include "../pause/wait_for_dc.p4"
#include "../receive_pause.p4"

// HoldOrPass: a packet goes, or waits; a neighbour or a data centre is answered (SRF-7, SRF-9).
// Reads:  meta.flow_control.request, is_pause; headers; where the packet goes.
// Writes: what Holding and WaitForDc write.
// When:   it is known where the packet goes.
control HoldOrPass(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    NameTraffic() name_traffic;
    Pauses() pauses;
    Holding() holding;
    WaitForDc() wait_for_dc;

    apply {
        hold_room_t room = ALL_ROOM;
        if (meta.flow_control.mode != FlowControl.OFF) {
            // An underlay datagram in no tunnel: its UDP header is the underlay's.
            if (hdr.udp.isValid() && !hdr.ipv4.isValid() && !hdr.ipv6.isValid()) {
                hdr.tunnel.udp = hdr.udp;
                hdr.udp.setInvalid();
            }
            // Notifications are not held; a customer's packet is none, whatever its port.
            if (meta.base.forward == Forward.UNDERLAY && meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE
                    && (meta.encapsulated || meta.base.notification_kind == NotificationKind.NONE)) {
                name_traffic.apply(hdr, meta, hdr.outer_ipv6.dst);
                if (meta.flow_control.is_named) {
                    meta.flow_control.request = HoldRequest.PASS;
                    meta.flow_control.hold_port = meta.base.egress_port;
                }
            }
        }
        if (meta.flow_control.is_pause
                || (meta.base.forward == Forward.VRF && meta.flow_control.mode != FlowControl.OFF
                    && meta.base.parse_more != WAITED_FOR_DC && meta.base.drop_reason == DropReason.NONE
                    && meta.base.punt_reason == PuntReason.NONE && !meta.make_cnp && !meta.base.is_done)) {
            pauses.apply(hdr.ipv4, hdr.ipv6, hdr.pause, standard_metadata.packet_length, meta, room);
        }
        if (meta.flow_control.request != HoldRequest.NONE && meta.base.drop_reason == DropReason.NONE) {
            holding.apply(
                meta.flow_control.hold_port, (bit<16>)standard_metadata.packet_length, room, meta.base,
                meta.flow_control);
            if (meta.base.forward == Forward.VRF || meta.base.parse_more == WAITED_FOR_DC) {
                wait_for_dc.apply(meta);
            }
        }
    }
}

#endif
