#ifndef FCN_MAKE_COPIES_P4
#define FCN_MAKE_COPIES_P4

// MakeCopies: a packet may have to be told of twice, to the neighbour it came from and to its sender: neither message
// waits for the other.
// Reads:  tells: what the sender or its PE is to get; asks: what the upstream neighbour is to get; base.level.
// Writes: base.copy_kind, base.copy_level, for the copies. Where there are two, standard_metadata.egress_rid says which one
//         a copy is, and base.copy_kind is that of the one that tells.
// When:   a packet leaves egress the first time, or waits.
control MakeCopies(
        in NotificationKind tells, in NotificationKind asks, inout base_meta_t base) {
    apply {
        base.copy_level = base.level;
        if (tells != NotificationKind.NONE && asks != NotificationKind.NONE) {
            base.copy_kind = tells;
            clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC_TWICE, KEEP_COPY);
        } else if (tells != NotificationKind.NONE) {
            base.copy_kind = tells;
            clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
        } else if (asks != NotificationKind.NONE) {
            base.copy_kind = asks;
            clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
        }
    }
}

#endif
