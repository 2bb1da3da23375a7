#ifndef FCN_HELLO_DUE_P4
#define FCN_HELLO_DUE_P4

#include "../../../base/v1model/externs.p4"
#include "../../links/bfd_headers.p4"
#include "../../links/link_types.p4"
#include "../link_registers.p4"

// HelloDue: the far end of a quiet link, or of one that is not up, hears a hello (FAN-4).
// Reads:  the link's state and registers; hello.port and interval; time now in microseconds.
// Writes: copy_kind; what the hello says.
// When:   the clock comes to the link, behind LinkSilence.
control HelloDue(in bit<48> now, in bit<3> state, inout hello_h hello, inout NotificationKind copy_kind) {
    apply {
        bit<1> waits;
        bit<102> sent;
        far_waits.read(waits, hello.port);
        port_sent.read(sent, hello.port);
        // A quarter earlier (RFC 5880 section 6.8.7): the clock may come a little sooner than an interval after the last one.
        if (state != (bit<3>)LinkState.UP || waits == 1
                || now - sent[SENT_TIME] >= (bit<48>)(hello.interval - (hello.interval >> 2))) {
            copy_kind = NotificationKind.HELLO;
            far_discriminators.read(hello.your_discriminator, hello.port);
            hello.link_state = (LinkState)state;
            hello.diagnostic = BfdDiagnostic.NONE;
            if (IS_DEAD(state)) {
                bit<8> cause;
                link_causes.read(cause, hello.port);
                hello.diagnostic = BfdDiagnostic.NEIGHBOR_SIGNALED_DOWN;
                if (cause == (bit<8>)FailureCause.NEIGHBOR_SILENT) {
                    hello.diagnostic = BfdDiagnostic.DETECTION_TIME_EXPIRED;
                }
            }
        }
    }
}

#endif
