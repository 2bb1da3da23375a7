#ifndef FCN_PAUSE_P4
#define FCN_PAUSE_P4

#include "../base/headers.p4"
#include "../base/sizes.p4"
#include "arn_headers.p4"
#include "flow_control_types.p4"

// Pause: turns the copy of a packet into a PAUSE frame for its priority (IEEE 802.1Qbb, 802.3 annex 31D). The end of
// a pause is one of time 0.
// Reads:  meta.dc_priority, meta.arn_type, meta.upstream_port.
// Writes: Ethernet header, the frame up to its shortest length. What follows is cut off by the top-level control.
// When:   on the egress copy of a packet whose data centre is to pause.
control Pause(inout ethernet_h ethernet, inout pause_h pause, in flow_control_meta_t meta) {
    bit<16> time;

    action set_pause_profile(mac_addr_t src_mac, bit<16> quanta) {
        ethernet.src = src_mac;
        time = quanta;
    }
    action no_pause_profile() {
        time = 0;
    }

    @name(".pause_profile")
    table pause_profile {
        key = {
            meta.upstream_port: exact @name("port");
        }
        actions = {
            @tableonly set_pause_profile;
            @defaultonly no_pause_profile;
        }
        const default_action = no_pause_profile;
        size = PORT_TABLE_SIZE;
    }

    action start() {
        ethernet.dst = PAUSE_MAC;
        ethernet.ether_type = EtherType.MAC_CONTROL;
        pause.setValid();
        pause.opcode = PFC_OPCODE;
        pause.vector = 0;
        pause.time0 = 0;
        pause.time1 = 0;
        pause.time2 = 0;
        pause.time3 = 0;
        pause.time4 = 0;
        pause.time5 = 0;
        pause.time6 = 0;
        pause.time7 = 0;
        pause.pad = 0;
    }
    action pause_0() { pause.vector = 1; pause.time0 = time; }
    action pause_1() { pause.vector = 2; pause.time1 = time; }
    action pause_2() { pause.vector = 4; pause.time2 = time; }
    action pause_3() { pause.vector = 8; pause.time3 = time; }
    action pause_4() { pause.vector = 16; pause.time4 = time; }
    action pause_5() { pause.vector = 32; pause.time5 = time; }
    action pause_6() { pause.vector = 64; pause.time6 = time; }
    action pause_7() { pause.vector = 128; pause.time7 = time; }

    @hidden
    table paused_priority {
        key = {
            meta.dc_priority: exact;
        }
        actions = {
            pause_0;
            pause_1;
            pause_2;
            pause_3;
            pause_4;
            pause_5;
            pause_6;
            pause_7;
        }
        const default_action = pause_0;
        const entries = {
            1: pause_1();
            2: pause_2();
            3: pause_3();
            4: pause_4();
            5: pause_5();
            6: pause_6();
            7: pause_7();
        }
    }

    apply {
        start();
        pause_profile.apply();
        if (meta.arn_type == ArnType.ELIMINATED) {
            time = 0;
        }
        paused_priority.apply();
    }
}

#endif
