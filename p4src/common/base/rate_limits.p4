#ifndef FCN_RATE_LIMITS_P4
#define FCN_RATE_LIMITS_P4

// NotificationLimit: bounds all notifications a node makes (FCN-15).
// Writes: color, GREEN when the notification may go.
// When:   a notification has passed its flow's gate. Not configured, the meter lets everything pass.
control NotificationLimit(inout color_t color) {
    METER(".notification_meter", notification_meter)

    apply {
        EXECUTE_METER(notification_meter, color)
    }
}

// PuntLimit: bounds what the CPU receives.
// Writes: color, GREEN when the packet may go.
// When:   a packet is about to go to the CPU.
control PuntLimit(inout color_t color) {
    METER(".punt_meter", punt_meter)

    apply {
        EXECUTE_METER(punt_meter, color)
    }
}

#endif
