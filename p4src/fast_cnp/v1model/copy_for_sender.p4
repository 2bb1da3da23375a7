#ifndef FCN_COPY_FOR_SENDER_P4
#define FCN_COPY_FOR_SENDER_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"

// CopyForSender
// Reads:  base.tells: what the sender or its PE is to get; base.level.
// Writes: base.copy_kind, base.copy_level, for the copy.
// When:   a packet leaves egress the first time, and its sender is told.
control CopyForSender(inout base_meta_t base) {
    apply {
        base.copy_level = base.level;
        base.copy_kind = base.tells;
        clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
    }
}

#endif
