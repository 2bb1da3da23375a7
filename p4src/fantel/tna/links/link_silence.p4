#ifndef FCN_TNA_LINK_SILENCE_P4
#define FCN_TNA_LINK_SILENCE_P4

#include "../../../base/sizes.p4"
#include "../../../base/tna/externs.p4"
#include "links_metadata.p4"

// LinkSilence: when was anything heard of a link? Any packet counts (FAN-4).
// Reads:  md.port, silence, now; is_sign: something came from there, or the clock looks for the first time; looks:
//         otherwise.
// Writes: md.is_silent: nothing was for the detection time; the time.
// When:   a packet from the wire, or the clock comes to a link.
control LinkSilence(inout links_meta_t md, in bool is_sign, in bool looks) {
    // As in FlowGate
    Register<bit<32>, port_t>(PORT_COUNTER_SIZE) last_heard;
    RegisterAction<bit<32>, port_t, bit<1>>(last_heard) note = {
        void apply(inout bit<32> last) {
            // A microsecond older: stamped after the clock, it may come here before it.
            last = md.now + 4;
        }
    };
    RegisterAction<bit<32>, port_t, bit<1>>(last_heard) look = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= md.silence.start || last < md.now) {
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    RegisterAction<bit<32>, port_t, bit<1>>(last_heard) look_after_wrap = {
        void apply(inout bit<32> last, out bit<1> result) {
            if (last >= md.silence.start && last < md.now) {
                result = 1;
            } else {
                result = 0;
            }
        }
    };

    action note_sign() {
        note.execute(md.port);
    }
    action try_look() {
        md.is_silent = look.execute(md.port);
    }
    action try_look_after_wrap() {
        md.is_silent = look_after_wrap.execute(md.port);
    }

    apply {
        if (is_sign) {
            note_sign();
        } else if (looks) {
            if (BEFORE_WRAP(md.silence)) {
                try_look_after_wrap();
            } else {
                try_look();
            }
        }
    }
}

#endif
