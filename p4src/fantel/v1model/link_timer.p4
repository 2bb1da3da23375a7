#ifndef FCN_LINK_TIMER_P4
#define FCN_LINK_TIMER_P4

// A link that was never up is down after so many detection times, as a power of two.
const bit<8> FIRST_SILENCE_SHIFT = 6;

// LinkTimer: a link of which nothing was heard for too long is down; the far end of a quiet one hears a hello (FAN-4).
// Any packet counts, as BFD's (RFC 5880 section 6.8.4) alone would not.
// Reads:  order: the link and its times; the link's registers; time now in microseconds.
// Writes: its state, and why it is down; order; is_due, whether there is to be a hello.
// When:   the clock comes to the link.
control LinkTimer(in bit<48> now, inout order_h order, out bool is_due) {
    apply {
        bit<3> state;
        bit<48> heard;
        bit<102> sent;
        link_states.read(state, order.port);
        last_heard.read(heard, order.port);
        if (heard == 0) {
            // The watch begins.
            last_heard.write(order.port, now);
        } else {
            // Before the clock began nobody looked.
            bit<48> began;
            clock_began.read(began, 0);
            if (heard < began) {
                heard = began;
            }
            // Since the clock packet left its queue, a packet may have come: it is newer than now.
            bit<48> silent = now - heard;
            // Packets wait before they are looked at, the clock does not: what came after the newest one that was looked
            // at is not silence.
            bit<48> newest;
            bit<48> before;
            last_heard.read(newest, CLOCK_PORT);
            newest_of_rounds.read(before, 1);
            if (newest != before) {
                silent = newest - heard;
            }
            // At the start of a network a neighbour may be a little later.
            bit<48> longest = (bit<48>)order.time;
            if (state == (bit<3>)LinkState.UNKNOWN || state == (bit<3>)LinkState.STARTING) {
                longest = longest << FIRST_SILENCE_SHIFT;
            }
            if (state != (bit<3>)LinkState.DOWN && silent[47:47] == 0 && silent >= longest) {
                if (!IS_DEAD(state)) {
                    if (state != (bit<3>)LinkState.UP) {
                        links_up.count(order.port);
                    }
                    links_down.count(order.port);
                }
                state = (bit<3>)LinkState.DOWN;
                link_states.write(order.port, state);
                link_causes.write(order.port, (bit<8>)FailureCause.NEIGHBOR_SILENT);
            }
        }
        bit<1> waits;
        far_waits.read(waits, order.port);
        port_sent.read(sent, order.port);
        // A quarter earlier (RFC 5880 section 6.8.7): the clock may come a little sooner than an interval after the last one.
        is_due = state != (bit<3>)LinkState.UP || waits == 1
            || now - sent[SENT_TIME] >= (bit<48>)(order.interval - (order.interval >> 2));
        if (is_due) {
            far_discriminators.read(order.your_discriminator, order.port);
            order.link_state = (LinkState)state;
            order.diagnostic = BfdDiagnostic.NONE;
            if (IS_DEAD(state)) {
                bit<8> cause;
                link_causes.read(cause, order.port);
                order.diagnostic = BfdDiagnostic.NEIGHBOR_SIGNALED_DOWN;
                if (cause == (bit<8>)FailureCause.NEIGHBOR_SILENT) {
                    order.diagnostic = BfdDiagnostic.DETECTION_TIME_EXPIRED;
                }
            }
        }
    }
}

#endif
