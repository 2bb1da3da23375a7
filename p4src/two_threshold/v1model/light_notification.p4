#ifndef FCN_LIGHT_NOTIFICATION_P4
#define FCN_LIGHT_NOTIFICATION_P4

#include "../../base/v1model/pe.p4"


// When light congestion of a flow was told of last, in microseconds, by the low 16 bits of its label; 0: not lately.
register<bit<32>, bit<16>>(LIGHT_CONGESTION_CELLS) light_congestion_time;

// LightNotification: takes the notifications that say light congestion, so that no sender hears of it (PEC-3). For
// one hold after the treatment of a flow has ended it does not begin again: thus it is never switched on and off
// faster than the hold.
// Reads:  the level of the Fast CNP or of the own queue, meta.copy_insists, meta.notify_label, meta.label_fault,
//         meta.two_threshold.hold, time now in microseconds.
// Writes: meta.two_threshold.is_notified, or meta.base.drop_reason when the label is unknown; meta.make_cnp, meta.base.forward.
// When:   meta.make_cnp and meta.two_threshold.hold is not 0. The queue pair of the sender need not be known.
control LightNotification(in fast_cnp_h fast_cnp, inout pe_meta_t meta, in bit<48> now) {
    apply {
        congestion_level_t level = meta.base.copy_level;
        if (meta.base.copy_kind == NotificationKind.NONE) {
            level = fast_cnp.word[11:9];
        }
        if (level == LIGHT_CONGESTION_LEVEL) {
            // The sender is notified of what is short here besides.
            if (meta.copy_insists == 0) {
                meta.make_cnp = false;
                meta.base.forward = Forward.NONE;
            }
            if (meta.label_fault == DropReason.LABEL_UNKNOWN) {
                meta.base.drop_reason = meta.label_fault;
            } else {
                bit<32> last;
                bit<16> index = meta.notify_label[15:0];
                bit<32> now_low = now[31:0] | 1;
                meta.two_threshold.is_notified = true;
                light_congestion_time.read(last, index);
                bit<32> age = now_low - last;
                if (last == 0 || age < meta.two_threshold.hold || age - meta.two_threshold.hold >= meta.two_threshold.hold) {
                    light_congestion_time.write(index, now_low);
                }
            }
        }
    }
}

#endif
