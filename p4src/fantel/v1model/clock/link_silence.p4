#ifndef FCN_LINK_SILENCE_P4
#define FCN_LINK_SILENCE_P4

#include "../../../base/v1model/externs.p4"
#include "../../links/bfd_headers.p4"
#include "../../links/link_types.p4"
#include "../link_registers.p4"

// A link that was never up is down after so many detection times, as a power of two.
const bit<8> FIRST_SILENCE_SHIFT = 6;

// LinkSilence: a link of which nothing was heard for too long is down. Any packet counts, as BFD's (RFC 5880 section 6.8.4)
// alone would not.
// Reads:  hello: the link and its times; last_heard, clock_began, newest_of_rounds; time now in microseconds.
// Writes: state of the link, link_states, and why it is down; links_up, links_down; last_heard, when the watch begins.
// When:   the clock comes to the link.
control LinkSilence(in bit<48> now, in hello_h hello, inout bit<3> state) {
    apply {
        bit<48> heard;
        last_heard.read(heard, hello.port);
        if (heard == 0) {
            // The watch begins.
            last_heard.write(hello.port, now);
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
            bit<48> longest = (bit<48>)hello.time;
            if (state == (bit<3>)LinkState.UNKNOWN || state == (bit<3>)LinkState.STARTING) {
                longest = longest << FIRST_SILENCE_SHIFT;
            }
            if (state != (bit<3>)LinkState.DOWN && silent[47:47] == 0 && silent >= longest) {
                if (!IS_DEAD(state)) {
                    if (state != (bit<3>)LinkState.UP) {
                        links_up.count(hello.port);
                    }
                    links_down.count(hello.port);
                }
                state = (bit<3>)LinkState.DOWN;
                link_states.write(hello.port, state);
                link_causes.write(hello.port, (bit<8>)FailureCause.NEIGHBOR_SILENT);
            }
        }
    }
}

#endif
