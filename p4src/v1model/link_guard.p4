#ifndef FCN_LINK_GUARD_P4
#define FCN_LINK_GUARD_P4

// LinkGuard: a packet whose next hop is dead takes another, where one leads to its destination without a loop (FAN-4).
// Reads:  meta.egress_port, underlay destination, state of the link.
// Writes: is_dead, dead_port; Ethernet addresses and meta.egress_port, or meta.drop_reason.
// When:   a packet of the underlay has its next hop.
control LinkGuard(
        in ipv6_addr_t dst, inout ethernet_h ethernet, inout base_meta_t meta, out bool is_dead, out port_t dead_port) {
    Alternate() alternate;

    apply {
        bit<3> state;
        link_states.read(state, meta.egress_port);
        is_dead = IS_DEAD(state);
        dead_port = meta.egress_port;
        if (is_dead) {
            bool is_there;
            alternate.apply(dead_port, dst, ethernet, meta, is_there);
            link_states.read(state, meta.egress_port);
            if (!is_there || IS_DEAD(state)) {
                meta.drop_reason = DropReason.LINK_DOWN;
            } else {
                events.count(Event.REPAIRED);
            }
        }
    }
}

#endif
