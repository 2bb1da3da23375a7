#ifndef FCN_TNA_LINK_SESSION_P4
#define FCN_TNA_LINK_SESSION_P4

#include "../../../base/sizes.p4"
#include "../../../base/tna/externs.p4"
#include "links_metadata.p4"

// LinkSession: the session of a link by what its far end says, or does not (RFC 5880 section 6.8.6).
// Reads:  md.port, event, is_silent.
// Writes: md.before: its state before; its state; md.has_changed, cause; links_up, links_down.
// When:   there is an event, or silence.
control LinkSession(inout links_meta_t md) {
    @name(".links_up")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS) links_up;
    @name(".links_down")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS) links_down;

    Register<bit<8>, port_t>(PORT_COUNTER_SIZE) sessions;
    RegisterAction<bit<8>, port_t, bit<8>>(sessions) end = {
        void apply(inout bit<8> state, out bit<8> before) {
            before = state;
            state = SessionState.DOWN;
        }
    };
    RegisterAction<bit<8>, port_t, bit<8>>(sessions) hear_down = {
        void apply(inout bit<8> state, out bit<8> before) {
            before = state;
            if (state == SessionState.UP) {
                state = SessionState.DOWN;
            } else {
                state = SessionState.INIT;
            }
        }
    };
    RegisterAction<bit<8>, port_t, bit<8>>(sessions) hear_up = {
        void apply(inout bit<8> state, out bit<8> before) {
            before = state;
            if (state != SessionState.DOWN) {
                state = SessionState.UP;
            }
        }
    };
    // At INIT it is up; whoever only looks says what it was.
    RegisterAction<bit<8>, port_t, bit<8>>(sessions) hear_init = {
        void apply(inout bit<8> state, out bit<8> before) {
            before = state;
            if (md.event == LinkEvent.INIT) {
                state = SessionState.UP;
            }
        }
    };

    action try_end() {
        md.before = (SessionState)end.execute(md.port);
    }
    action try_hear_down() {
        md.before = (SessionState)hear_down.execute(md.port);
    }
    action try_hear_up() {
        md.before = (SessionState)hear_up.execute(md.port);
    }
    action try_hear_init() {
        md.before = (SessionState)hear_init.execute(md.port);
    }
    action come_up() {
        md.has_changed = 1;
        md.cause = 0;
    }
    action go_down(bit<8> cause) {
        md.has_changed = 1;
        md.cause = cause;
    }
    action stay() { }

    @hidden
    table link_change {
        key = {
            md.is_silent: ternary;
            md.event: ternary;
            md.before: ternary;
        }
        actions = {
            come_up;
            go_down;
            stay;
        }
        const default_action = stay;
        const entries = {
            (1, _, SessionState.UP): go_down(FailureCause.NEIGHBOR_SILENT);
            (0, LinkEvent.ADMIN_DOWN, SessionState.UP): go_down(FailureCause.ADMINISTRATIVE);
            (0, LinkEvent.DOWN, SessionState.UP): go_down(FailureCause.NEIGHBOR_DOWN);
            (0, LinkEvent.INIT, SessionState.DOWN): come_up();
            (0, LinkEvent.INIT, SessionState.INIT): come_up();
            (0, LinkEvent.UP, SessionState.INIT): come_up();
        }
    }

    apply {
        if (md.is_silent == 1) {
            try_end();
        } else if (md.event == LinkEvent.ADMIN_DOWN) {
            try_end();
        } else if (md.event == LinkEvent.DOWN) {
            try_hear_down();
        } else if (md.event == LinkEvent.UP) {
            try_hear_up();
        } else {
            try_hear_init();
        }
        link_change.apply();
        if (md.has_changed == 1) {
            if (md.cause == 0) {
                links_up.count(md.port);
            } else {
                links_down.count(md.port);
            }
        }
    }
}

#endif
