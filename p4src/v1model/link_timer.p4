#ifndef FCN_LINK_TIMER_P4
#define FCN_LINK_TIMER_P4

// LinkTimer: a link of which nothing was heard for too long is down; the far end of a quiet one hears a hello (FAN-4).
// Any packet counts, as BFD's (RFC 5880 section 6.8.4) alone would not.
// Reads:  order: the link and its times; the link's registers; time now in microseconds.
// Writes: its state; order; is_due, whether there is to be a hello.
// When:   the clock comes to the link.
control LinkTimer(in bit<48> now, inout order_h order, out bool is_due) {
    apply {
        bit<3> state;
        bit<48> heard;
        bit<48> sent;
        link_states.read(state, order.port);
        last_heard.read(heard, order.port);
        if (heard == 0) {
            // The watch begins.
            last_heard.write(order.port, now);
        } else if (state != (bit<3>)LinkState.DOWN && now - heard >= (bit<48>)order.time) {
            if (!IS_DEAD(state)) {
                links_down.count(order.port);
            }
            state = (bit<3>)LinkState.DOWN;
            link_states.write(order.port, state);
        }
        last_sent.read(sent, order.port);
        is_due = state != (bit<3>)LinkState.UP || now - sent >= (bit<48>)order.interval;
        if (is_due) {
            far_discriminators.read(order.your_discriminator, order.port);
            order.link_state = (LinkState)state;
            order.diagnostic = BfdDiagnostic.NONE;
            if (IS_DEAD(state)) {
                order.diagnostic = BfdDiagnostic.DETECTION_TIME_EXPIRED;
            }
        }
    }
}

#endif
