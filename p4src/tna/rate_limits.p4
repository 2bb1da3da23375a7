#ifndef FCN_RATE_LIMITS_P4
#define FCN_RATE_LIMITS_P4

// NotificationLimit: bounds all notifications a node makes (FCN-15).
// Writes: pass.
// When:   a notification has passed its flow's gate. Not configured, the meter lets everything pass.
control NotificationLimit(out bool pass) {
    @name(".notification_meter")
    Meter<bit<1>>(1, MeterType_t.PACKETS) notification_meter;
    bit<8> color = 0;

    apply {
        color = notification_meter.execute(0);
        pass = color == (bit<8>)MeterColor_t.GREEN;
    }
}

// PuntLimit: bounds what the CPU is asked to look at.
// Writes: pass.
// When:   a packet is about to go to the CPU.
control PuntLimit(out bool pass) {
    @name(".punt_meter")
    Meter<bit<1>>(1, MeterType_t.PACKETS) punt_meter;
    bit<8> color = 0;

    apply {
        color = punt_meter.execute(0);
        pass = color == (bit<8>)MeterColor_t.GREEN;
    }
}

#endif
