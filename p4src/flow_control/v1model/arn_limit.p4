#ifndef FCN_ARN_LIMIT_P4
#define FCN_ARN_LIMIT_P4

#include "../../base/v1model/externs.p4"

// ArnLimit: bounds the messages of flow control a node makes (FCN-15).
// Writes: color, GREEN when the message may go. Not configured, the meter lets everything pass.
// When:   a message has passed ArnGate.
control ArnLimit(inout color_t color) {
    METER(".arn_meter", arn_meter, bit<1>, 1)

    apply {
        EXECUTE_METER(arn_meter, 0, color)
    }
}

#endif
