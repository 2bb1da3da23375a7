#ifndef FCN_MAKE_COPIES_P4
#define FCN_MAKE_COPIES_P4

// MakeCopies: a packet may have to be told of twice, to the neighbour it came from and to its sender: neither message
// waits for the other.
// Reads:  tells: what the sender or its PE is to get; asks: what the upstream neighbour is to get; base.level.
// Writes: base.copy_kind, base.copy_level, meta.asks, for the copies; standard_metadata.egress_rid of the copy for the neighbour is
//         COPY_THAT_ASKS where there are two.
// When:   a packet leaves egress the first time, or waits.
control MakeCopies(
        in NotificationKind tells, in NotificationKind asks, inout base_meta_t base,
        inout flow_control_meta_t meta) {
    apply {
        base.copy_level = base.level;
        if (tells != NotificationKind.NONE && asks != NotificationKind.NONE) {
            base.copy_kind = tells;
            meta.asks = asks;
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
