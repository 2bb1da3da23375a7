#ifndef FCN_COPY_FOR_NEIGHBOR_P4
#define FCN_COPY_FOR_NEIGHBOR_P4

#include "../../base/v1model/externs.p4"
#include "../../base/metadata.p4"

// CopyForNeighbor: a packet may have to be told of twice, to the neighbour it came from and to its sender: neither message
// waits for the other.
// Reads:  base.tells, base.asks, base.level.
// Writes: base.copy_kind, base.copy_level, for the copies. Where there are two, standard_metadata.egress_rid says which one
//         a copy is, and base.copy_kind is that of the one that tells. Of several calls of clone the last counts.
// When:   a packet leaves egress the first time, or waits, and the upstream neighbour is asked; behind CopyForSender.
control CopyForNeighbor(inout base_meta_t base) {
    apply {
        base.copy_level = base.level;
        if (base.tells != NotificationKind.NONE) {
            clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC_TWICE, KEEP_COPY);
        } else {
            base.copy_kind = base.asks;
            clone_preserving_field_list(CloneType.E2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
        }
    }
}

#endif
