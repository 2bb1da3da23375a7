#ifndef FCN_LINK_TIMER_P4
#define FCN_LINK_TIMER_P4

#include "../links/bfd_headers.p4"
#include "clock/hello_due.p4"
#include "clock/link_silence.p4"
#include "link_registers.p4"

// LinkTimer: a link of which nothing was heard for too long is down; the far end of a quiet one hears a hello (FAN-4).
// Reads:  hello: the link and its times; the link's registers; time now in microseconds.
// Writes: what LinkSilence and HelloDue write.
// When:   the clock comes to the link.
control LinkTimer(in bit<48> now, inout hello_h hello, inout NotificationKind copy_kind) {
    LinkSilence() link_silence;
    HelloDue() hello_due;

    apply {
        bit<3> state;
        link_states.read(state, hello.port);
        link_silence.apply(now, hello, state);
        hello_due.apply(now, state, hello, copy_kind);
    }
}

#endif
