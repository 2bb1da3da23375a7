#ifndef FCN_RECEIVE_PAUSE_P4
#define FCN_RECEIVE_PAUSE_P4

#include "../../base/v1model/pe.p4"
#include "../arn_headers.p4"
#include "../flow_control_types.p4"
#include "hold.p4"

// To a group that no bridge forwards (IEEE 802.3 annex 31D)
#define IS_PAUSE(ethernet) ((ethernet).dst == PAUSE_MAC && (ethernet).ether_type == EtherType.MAC_CONTROL)

// PauseRequest: what a PAUSE frame asks of one priority (IEEE 802.1Qbb), the lowest that no earlier pass has asked for.
// Reads:  the frame; first: the lowest priority of this pass; quantum: 512 bit times in 2^-16 microseconds.
// Writes: meta.traffic, meta.request, meta.time; next: the lowest priority of the next pass, 0 when there is none.
// When:   the frame is heeded.
control PauseRequest(
        in pause_h pause, in bit<3> first, in bit<32> quantum, inout flow_control_meta_t meta, out bit<3> next) {
    bit<16> quanta;
    bit<8> rest;

    action take(in bit<32> priority, in bit<16> time) {
        meta.traffic = NO_TRAFFIC;
        meta.traffic.priority = priority;
        meta.request = HoldRequest.BEGIN;
        quanta = time;
    }
    action take_0() { take(0, pause.time0); }
    action take_1() { take(1, pause.time1); }
    action take_2() { take(2, pause.time2); }
    action take_3() { take(3, pause.time3); }
    action take_4() { take(4, pause.time4); }
    action take_5() { take(5, pause.time5); }
    action take_6() { take(6, pause.time6); }
    action take_7() { take(7, pause.time7); }
    action take_none() { }

    @hidden
    table lowest_priority {
        key = {
            rest: ternary;
        }
        actions = {
            take_0;
            take_1;
            take_2;
            take_3;
            take_4;
            take_5;
            take_6;
            take_7;
            take_none;
        }
        const default_action = take_none;
        const entries = {
            0x01 &&& 0x01: take_0();
            0x02 &&& 0x02: take_1();
            0x04 &&& 0x04: take_2();
            0x08 &&& 0x08: take_3();
            0x10 &&& 0x10: take_4();
            0x20 &&& 0x20: take_5();
            0x40 &&& 0x40: take_6();
            0x80 &&& 0x80: take_7();
        }
    }

    apply {
        next = 0;
        quanta = 0;
        rest = pause.vector[7:0] & (8w0xff << first);
        lowest_priority.apply();
        if (meta.request == HoldRequest.BEGIN) {
            meta.time = (microseconds_t)(((bit<48>)quanta * (bit<48>)quantum) >> 16);
            if (quanta == 0) {
                meta.request = HoldRequest.END;
            }
            if (rest & (rest - 1) != 0) {
                next = meta.traffic.priority[2:0] + 1;
            }
        }
    }
}

// Pauses: a data centre's PAUSE frame, and the packets that it stops (SRF-9). Hold keeps both apart by port and priority:
// a hold that a PAUSE frame begins is that of one priority of the packets that leave by the port it came in on.
// Reads:  meta.flow_control.is_pause: the packet is a PAUSE frame; frame_octets; otherwise a customer's packet on its way out
//         of a DC port.
// Writes: meta.flow_control.hold_port; room: what may wait for that port; meta.flow_control.request and what Hold needs for it;
//         meta.base.drop_reason: why a frame is not heeded. Asks for another pass where a frame names more priorities.
// When:   such packets, before Holding.
control Pauses(
        in ipv4_h ipv4, in ipv6_h ipv6, in pause_h pause, in bit<32> frame_octets,
        inout pe_meta_t meta, inout hold_room_t room) {
    PauseRequest() pause_request;
    bool is_heeded;
    bit<32> quantum;

    action heed(bit<32> quantum_time, bit<32> packets, bit<32> octets) {
        is_heeded = true;
        quantum = quantum_time;
        room.packets = packets;
        room.octets = octets;
    }
    action ignore() {
        is_heeded = false;
        quantum = 0;
    }

    // Ports whose PAUSE frames are heeded: how long a quantum of 512 bit times is, in 2^-16 microseconds; how much may wait
    // for the port.
    @name(".heeded_pauses")
    table heeded_pauses {
        key = {
            meta.flow_control.hold_port: exact @name("port");
        }
        actions = {
            @tableonly heed;
            @defaultonly ignore;
        }
        const default_action = ignore;
        size = PORT_TABLE_SIZE;
    }

    apply {
        meta.flow_control.hold_port = meta.base.egress_port;
        if (meta.flow_control.is_pause) {
            meta.flow_control.hold_port = meta.base.ingress_port;
        }
        heeded_pauses.apply();
        if (!meta.flow_control.is_pause) {
            if (is_heeded) {
                meta.flow_control.traffic = NO_TRAFFIC;
                if (ipv4.isValid()) {
                    meta.flow_control.traffic.priority = (bit<32>)ipv4.dscp[5:3];
                } else {
                    meta.flow_control.traffic.priority = (bit<32>)ipv6.dscp[5:3];
                }
                meta.flow_control.request = HoldRequest.PASS;
            }
        } else if (meta.base.role == Role.CORE) {
            meta.base.drop_reason = DropReason.NOTIFICATION_UNTRUSTED;
        } else if (meta.base.role == Role.DC || is_heeded) {
            // A port may have no role for frames without a tag.
            meta.base.drop_reason = DropReason.NONE;
            if (!pause.isValid() || frame_octets != PAUSE_FRAME_LENGTH) {
                meta.base.drop_reason = DropReason.NOTIFICATION_MALFORMED;
            } else if (pause.opcode != PFC_OPCODE) {
                meta.base.drop_reason = DropReason.UNSUPPORTED;
            } else if (!is_heeded || meta.flow_control.mode == FlowControl.OFF) {
                meta.base.drop_reason = DropReason.NOTIFICATION_ON_DC_PORT;
            } else {
                // Of the first pass; later ones say with which priority they go on.
                bit<3> first = 0;
                bit<3> next;
                if (meta.flat == 1) {
                    first = (bit<3>)meta.base.parse_more;
                } else {
                    notifications_received.count(NotificationKind.PAUSE);
                }
                pause_request.apply(pause, first, quantum, meta.flow_control, next);
                if (next != 0) {
                    meta.flat = 1;
                    meta.base.parse_more = (ParseMore)next;
                    resubmit_preserving_field_list(KEEP_FLAT);
                }
            }
        }
    }
}

// WaitForDc: what becomes of a packet that a PAUSE frame stops, or stopped. The first time it is parsed again, to be parked
// as it came; when it may leave, it is taken in again. A copy of what leaves tells the neighbour it came from that this is
// over.
// Reads:  what Hold said.
// Writes: meta.base.ingress_port, meta.base.parse_more of the next pass. Ends this pass, where there is another.
// When:   behind Holding, a packet that is on its way out of a DC port or waited for one.
control WaitForDc(inout pe_meta_t meta) {
    apply {
        if (meta.flow_control.request == HoldRequest.PASS && meta.flow_control.verdict == HoldVerdict.WAIT) {
            meta.base.parse_more = WAITED_FOR_DC;
            resubmit_preserving_field_list(KEEP_PARKED);
            exit;
        }
        if (meta.flow_control.request == HoldRequest.TURN && meta.flow_control.verdict == HoldVerdict.GO) {
            meta.base.ingress_port = meta.flow_control.upstream_port;
            clone_preserving_field_list(CloneType.I2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
            resubmit_preserving_field_list(KEEP_FLAT);
            exit;
        }
    }
}

#endif
