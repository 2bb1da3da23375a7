#ifndef FCN_RATE_LIMITS_P4
#define FCN_RATE_LIMITS_P4

const bit<8> GREEN = (bit<8>)MeterColor_t.GREEN;

// NotificationLimit: bounds all notifications a node makes (FCN-15).
// Writes: color, GREEN when the notification may go.
// When:   a notification has passed its flow's gate. Not configured, the meter lets everything pass.
control NotificationLimit(inout bit<8> color) {
    @name(".notification_meter")
    Meter<bit<1>>(1, MeterType_t.PACKETS) notification_meter;

    apply {
        color = notification_meter.execute(0);
    }
}

// PuntLimit: bounds what the CPU is asked to look at.
// Writes: color, GREEN when the packet may go.
// When:   a packet is about to go to the CPU.
control PuntLimit(inout bit<8> color) {
    @name(".punt_meter")
    Meter<bit<1>>(1, MeterType_t.PACKETS) punt_meter;

    apply {
        color = punt_meter.execute(0);
    }
}

#endif
