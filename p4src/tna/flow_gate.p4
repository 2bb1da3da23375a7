#ifndef FCN_FLOW_GATE_P4
#define FCN_FLOW_GATE_P4

// FlowGate: at most one notification of a flow per interval (FCN-11, FCN-15).
// Reads:  flow label (its low 16 bits select the cell), interval, time now.
// Writes: pass; the time of the last notification.
// When:   a notification is about to be made. A cell at zero never sent one.
//
// A register's ALU compares its cell with one operand at a time, so `now - last >= interval` becomes
// `last <= now - interval`; `last > now` is a cell from before the clock wrapped (73 minutes).
control FlowGate(
        in flow_label_t flow_label, in microseconds_t interval, in bit<48> now, out bool pass) {
    bit<32> now_low;
    bit<32> oldest;
    bit<1> passed;

    Register<bit<32>, bit<16>>(FLOW_GATE_SIZE, 0) last_sent;
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_sent) send = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last <= oldest || last > now_low) {
                last = now_low;
                result = 1;
            } else {
                result = 0;
            }
        }
    };

    action take_time() {
        now_low = MICROSECONDS(now);
    }
    action find_oldest() {
        oldest = now_low - interval;
    }
    action try_send() {
        passed = send.execute(flow_label[15:0]);
    }

    apply {
        take_time();
        find_oldest();
        try_send();
        pass = passed == 1;
    }
}

#endif
