#ifndef FCN_RATE_LIMITS_P4
#define FCN_RATE_LIMITS_P4

#include "sizes.p4"
#include "types.p4"

// NotificationLimit: bounds all notifications a node makes (FCN-15).
// Writes: color, GREEN when the notification may go.
// When:   a notification has passed its flow's gate. Not configured, the meter lets everything pass.
control NotificationLimit(inout color_t color) {
    METER(".notification_meter", notification_meter, bit<1>, 1)

    apply {
        EXECUTE_METER(notification_meter, 0, color)
    }
}

// PuntLimit: bounds what the CPU receives, of each VRF and of the underlay (VRF 0): packets, and reports of hosts.
// Writes: color, GREEN when the packet may go.
// When:   a packet is about to go to the CPU, or was answered here.
control PuntLimit(in vrf_t vrf, inout color_t color) {
    METER(".punt_meter", punt_meter, vrf_cell_t, VRF_CELLS)

    apply {
        EXECUTE_METER(punt_meter, VRF_CELL(vrf), color)
    }
}

// ReportLimit: bounds the reports of flows and connection set-ups of each VRF.
// Writes: color, GREEN when the report may go.
// When:   something is about to be reported.
control ReportLimit(in vrf_t vrf, inout color_t color) {
    METER(".report_meter", report_meter, vrf_cell_t, VRF_CELLS)

    apply {
        EXECUTE_METER(report_meter, VRF_CELL(vrf), color)
    }
}

#endif
