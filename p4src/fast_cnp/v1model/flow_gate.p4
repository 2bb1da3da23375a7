#ifndef FCN_FLOW_GATE_P4
#define FCN_FLOW_GATE_P4

#include "../../base/v1model/externs.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"

// FlowGate: at most one notification of a flow per interval (FCN-11, FCN-15).
// Reads:  flow label (its low 16 bits select the cell), interval, time now, both in microseconds.
// Writes: pass; the time of the last notification.
// When:   before a notification is sent. Zero in a cell: none was sent yet.
control FlowGate(
        in flow_label_t flow_label, in microseconds_t interval, in bit<48> now, out bool pass) {
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) last_sent;

    apply {
        bit<32> last;
        bit<16> index = flow_label[15:0];
        bit<32> now_low = now[31:0] | 1;
        last_sent.read(last, index);
        if (last == 0 || now_low - last >= interval) {
            pass = true;
            last_sent.write(index, now_low);
        } else {
            pass = false;
        }
    }
}

#endif
