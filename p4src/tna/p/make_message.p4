#ifndef FCN_TNA_P_MAKE_MESSAGE_P4
#define FCN_TNA_P_MAKE_MESSAGE_P4

#include "../../base/sizes.p4"
#include "../../fast_cnp/fast_cnp.p4"
#include "../p_metadata.p4"

// MakeMessage: a copy becomes the message it was made for; it comes round once more.
// Reads:  md.meta.base.copy_kind.
// Writes: headers; drop: there is nobody to tell.
// When:   on the egress copy of a packet.
control MakeMessage(inout p_pass_headers_t hdr, inout tna_p_meta_t md, inout bit<3> drop) {
    @name(".notifications_triggered")
    Counter<bit<32>, NotificationKind>(KIND_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES)
        notifications_triggered;

    HoldCopy() hold_copy;
    FastCnp() fast_cnp;
    PathCopy() path_copy;

    apply {
        // Here, because where limits are looked up a stage counts no more.
        notifications_triggered.count(md.meta.base.copy_kind);
        hold_copy.apply(hdr, md.meta, drop);
        if (md.meta.base.copy_kind == NotificationKind.FAST_CNP) {
            fast_cnp.apply(hdr.p, md.meta);
        }
        path_copy.apply(hdr, md.meta.base);
    }
}

#endif
