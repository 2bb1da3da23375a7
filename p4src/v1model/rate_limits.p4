#ifndef FCN_RATE_LIMITS_P4
#define FCN_RATE_LIMITS_P4

// RFC 2697/2698 colours as execute_meter returns them
const bit<2> METER_GREEN = 0;

// NotificationLimit: bounds all notifications a node makes (FCN-15).
// Writes: pass.
// When:   a notification has passed its flow's gate. Not configured, the meter lets everything pass.
control NotificationLimit(out bool pass) {
    @name(".notification_meter")
    meter(1, MeterType.packets) notification_meter;

    apply {
        bit<2> color = METER_GREEN;
        notification_meter.execute_meter<bit<2>>(0, color);
        pass = color == METER_GREEN;
    }
}

// PuntLimit: bounds what the CPU is asked to look at.
// Writes: pass.
// When:   a packet is about to go to the CPU.
control PuntLimit(out bool pass) {
    @name(".punt_meter")
    meter(1, MeterType.packets) punt_meter;

    apply {
        bit<2> color = METER_GREEN;
        punt_meter.execute_meter<bit<2>>(0, color);
        pass = color == METER_GREEN;
    }
}

#endif
