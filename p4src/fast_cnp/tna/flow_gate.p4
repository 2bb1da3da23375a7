#ifndef FCN_FLOW_GATE_P4
#define FCN_FLOW_GATE_P4

// FlowGate: at most one notification of a flow per interval (FCN-11, FCN-15), and one that it is over.
// Reads:  cell of the flow, interval, time now, both in ticks.
// Writes: pass; the time of the last notification.
// When:   a notification is about to be made: `wanted`, or one that there is no more reason: `over`, which passes where
//         another was sent before. A cell at NEVER did not send one.
//
// A register's ALU compares its cell with one operand at a time, so `now - last >= interval` becomes two comparisons with
// now and oldest, now - interval. What is between them, modulo 2^32, is younger than the interval: where the clock has
// not yet counted an interval since its start or its wrap (18 minutes), oldest is above now, and it is what is above
// oldest or up to now.
control FlowGate(
        in bool wanted,
        in bool over,
        in bit<16> cell,
        in interval_t interval,
        in bit<32> now,
        inout bit<1> pass)(
        bit<32> cells) {
    bit<32> oldest;
    bit<32> before_wrap;

    Register<bit<32>, bit<16>>(cells, NEVER) last_sent;
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_sent) send = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last <= oldest || last > now) {
                last = now;
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_sent) send_after_wrap = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last <= oldest && last > now) {
                last = now;
                result = 1;
            } else {
                result = 0;
            }
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<1>>(last_sent) send_end = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last != NEVER) {
                last = NEVER;
                result = 1;
            } else {
                result = 0;
            }
        }
    };

    action find_oldest() {
        oldest = now - interval;
        before_wrap = interval |-| now;
    }
    action try_send() {
        pass = send.execute(cell);
    }
    action try_send_after_wrap() {
        pass = send_after_wrap.execute(cell);
    }
    action try_send_end() {
        pass = send_end.execute(cell);
    }

    apply {
        find_oldest();
        if (wanted) {
            if (before_wrap == 0) {
                try_send();
            } else {
                try_send_after_wrap();
            }
        } else if (over) {
            try_send_end();
        }
    }
}

#endif
