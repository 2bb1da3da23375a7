#ifndef FCN_RECEIVE_PAUSE_P4
#define FCN_RECEIVE_PAUSE_P4

#include "../../base/v1model/pe.p4"
#include "../arn_headers.p4"
#include "../flow_control_types.p4"
#include "hold/park.p4"
#include "pause/heeded_pauses.p4"
#include "pause/pause_frame.p4"
#include "pause/wait_for_dc.p4"

// To a group that no bridge forwards (IEEE 802.3 annex 31D)
#define IS_PAUSE(ethernet) ((ethernet).dst == PAUSE_MAC && (ethernet).ether_type == EtherType.MAC_CONTROL)

// Pauses: a data centre's PAUSE frame, and the packets that it stops (SRF-9). Hold keeps both apart by port and priority:
// a hold that a PAUSE frame begins is that of one priority of the packets that leave by the port it came in on.
// Reads:  meta.flow_control.is_pause: the packet is a PAUSE frame; frame_octets; otherwise a customer's packet on its way out
//         of a DC port.
// Writes: meta.flow_control.hold_port; room: what may wait for that port; meta.flow_control.request and what Hold needs for it;
//         what PauseFrame writes.
// When:   such packets, before Holding.
control Pauses(
        in ipv4_h ipv4, in ipv6_h ipv6, in pause_h pause, in bit<32> frame_octets,
        inout pe_meta_t meta, inout hold_room_t room) {
    HeededPauses() heeded_pauses;
    PauseFrame() pause_frame;

    apply {
        bool is_heeded;
        bit<32> quantum;
        meta.flow_control.hold_port = meta.base.egress_port;
        if (meta.flow_control.is_pause) {
            meta.flow_control.hold_port = meta.base.ingress_port;
        }
        heeded_pauses.apply(meta.flow_control.hold_port, is_heeded, quantum, room);
        if (meta.flow_control.is_pause) {
            pause_frame.apply(pause, frame_octets, is_heeded, quantum, meta);
        } else if (is_heeded) {
            meta.flow_control.traffic = NO_TRAFFIC;
            if (ipv4.isValid()) {
                meta.flow_control.traffic.priority = (bit<32>)ipv4.dscp[5:3];
            } else {
                meta.flow_control.traffic.priority = (bit<32>)ipv6.dscp[5:3];
            }
            meta.flow_control.request = HoldRequest.PASS;
        }
    }
}

#endif
