#ifndef FCN_CLOCK_SLOT_P4
#define FCN_CLOCK_SLOT_P4

// ClockSlot: what the clock looks at next (FAN-4, FAN-6, FAN-7).
// Reads:  the slot.
// Writes: order: the task, none behind the last slot, where the round begins again; the headers of a hello.
// When:   the clock packet has come round.
control ClockSlot(in clock_slot_t slot, inout order_h order, inout arn_envelope_h envelope) {
    action watch_link(
            port_t port, microseconds_t interval, microseconds_t detection_time, bit<8> detect_multiplier,
            bit<32> discriminator, mac_addr_t src_mac, mac_addr_t dst_mac, ipv6_addr_t src, ipv6_addr_t dst,
            bit<32> rate) {
        order.task = ClockTask.LINK;
        order.port = port;
        order.interval = interval;
        order.time = detection_time;
        order.detect_multiplier = detect_multiplier;
        order.my_discriminator = discriminator;
        order.rate = rate;
        envelope.setValid();
        envelope.src_mac = src_mac;
        envelope.dst_mac = dst_mac;
        envelope.src = src;
        envelope.dst = dst;
    }
    action watch_path(
            port_t port, core_path_t path_cell, path_id_t path_id, ipv6_addr_t ingress_pe, microseconds_t repeat,
            microseconds_t refresh) {
        order.task = ClockTask.PATH;
        order.port = port;
        order.interval = repeat;
        order.time = refresh;
        order.path_cell = path_cell;
        order.path_id = path_id;
        order.ingress_pe = ingress_pe;
    }
    action watch_path_queue(
            port_t port, core_path_t path_cell, path_id_t path_id, ipv6_addr_t ingress_pe, microseconds_t repeat,
            microseconds_t refresh, microseconds_t relief) {
        order.task = ClockTask.PATH_QUEUE;
        order.port = port;
        order.interval = repeat;
        order.time = refresh;
        order.relief = relief;
        order.path_cell = path_cell;
        order.path_id = path_id;
        order.ingress_pe = ingress_pe;
    }
    action watch_path_load(
            port_t port, core_path_t path_cell, path_id_t path_id, ipv6_addr_t ingress_pe, bit<16> change,
            microseconds_t refresh) {
        order.task = ClockTask.PATH_LOAD;
        order.port = port;
        order.time = refresh;
        order.change = change;
        order.path_cell = path_cell;
        order.path_id = path_id;
        order.ingress_pe = ingress_pe;
    }
    action end_of_round() {
        order.task = ClockTask.NONE;
    }

    @name(".clock_slot")
    table clock_slot {
        key = {
            slot: exact @name("slot");
        }
        actions = {
            @tableonly watch_link;
            @tableonly watch_path;
            @tableonly watch_path_queue;
            @tableonly watch_path_load;
            @defaultonly end_of_round;
        }
        const default_action = end_of_round;
        size = CLOCK_SLOTS;
    }

    apply {
        clock_slot.apply();
    }
}

#endif
