#ifndef FCN_FLOW_GATE_P4
#define FCN_FLOW_GATE_P4

// FlowGate: at most one notification of a flow per interval (FCN-11, FCN-15), and one that it is over.
// Reads:  cell of the flow, time now, start of an interval that ends now, both counted down (TICKS).
// Writes: pass; the time of the last notification.
// When:   a notification is about to be made; or, with `over`, one that there is no more reason, which passes where another
//         was sent before. A cell at NEVER did not send one.
//
// A register's ALU compares its cell with one operand at a time, so whether an interval has passed since `last` becomes two
// comparisons, with the start of the interval and with now. What is between them, modulo 2^32, is younger than the interval:
// where the clock has not yet counted an interval since its start or its wrap (18 minutes), the start is below now, and it is
// what is below the start or from now on.
control FlowGate(
        in bool over, in bit<16> cell, in past_interval_t interval, in instant_t now, inout bit<1> pass)(
        bit<32> cells) {
    Register<bit<32>, bit<16>>(cells, NEVER) last_sent;
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_sent) send = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= interval.start || last < now) {
                last = now;
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(last_sent) send_after_wrap = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= interval.start && last < now) {
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
        if (over) {
            try_send_end();
        } else if (BEFORE_WRAP(interval)) {
            try_send_after_wrap();
        } else {
            try_send();
        }
    }
}

#endif
