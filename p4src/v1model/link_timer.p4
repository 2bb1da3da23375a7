#ifndef FCN_LINK_TIMER_P4
#define FCN_LINK_TIMER_P4

// LinkTimer: a link of which nothing was heard for too long is down; the far end of a quiet one hears a hello (FAN-4).
// Any packet counts, as BFD's (RFC 5880 section 6.8.4) alone would not.
// Reads:  task; the link's registers; time now in microseconds.
// Writes: its state; order; is_due, whether there is to be a hello.
// When:   the clock comes to the link.
control LinkTimer(in clock_task_h task, in bit<32> now, inout order_h order, out bool is_due) {
    apply {
        bit<3> state;
        bit<32> heard;
        bit<32> sent;
        link_states.read(state, task.port);
        last_heard.read(heard, task.port);
        if (heard == 0) {
            // The watch begins.
            last_heard.write(task.port, now | 1);
        } else if (state != (bit<3>)LinkState.DOWN && now - heard >= task.time) {
            if (!IS_DEAD(state)) {
                links_down.count(task.port);
            }
            state = (bit<3>)LinkState.DOWN;
            link_states.write(task.port, state);
        }
        last_sent.read(sent, task.port);
        is_due = state != (bit<3>)LinkState.UP || now - sent >= task.interval;
        if (is_due) {
            far_discriminators.read(order.your_discriminator, task.port);
            order.link_state = (LinkState)state;
            order.diagnostic = BfdDiagnostic.NONE;
            if (IS_DEAD(state)) {
                order.diagnostic = BfdDiagnostic.DETECTION_TIME_EXPIRED;
            }
        }
    }
}

#endif
