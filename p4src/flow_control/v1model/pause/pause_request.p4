#ifndef FCN_PAUSE_REQUEST_P4
#define FCN_PAUSE_REQUEST_P4

#include "../../../base/v1model/pe.p4"
#include "../../flow_control_types.p4"

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

#endif
