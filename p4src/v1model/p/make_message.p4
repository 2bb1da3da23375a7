#ifndef FCN_P_MAKE_MESSAGE_P4
#define FCN_P_MAKE_MESSAGE_P4

#include "../../base/v1model/p.p4"
#include "../../fast_cnp/fast_cnp.p4"
#include "../../fast_cnp/v1model/fast_cnp_checksum.p4"

// MakeMessage: a copy becomes the message it was made for; a CNP by way of END.CON on its second pass only.
// Reads:  meta.base.copy_kind.
// Writes: headers; the length of the frame.
// When:   on the egress copy of a packet.
control MakeMessage(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldCopy() hold_copy;
    PathCopy() path_copy;
    FastCnp() fast_cnp;
    FastCnpChecksum() fast_cnp_checksum;

    apply {
        hold_copy.apply(hdr, meta, standard_metadata);
        path_copy.apply(hdr, meta, standard_metadata);
        if (meta.base.copy_kind == NotificationKind.FAST_CNP) {
            bit<16> checksum;
            fast_cnp.apply(hdr, meta);
            fast_cnp_checksum.apply(hdr.outer_ipv6, hdr.tunnel.udp, hdr.fast_cnp, checksum);
            hdr.tunnel.udp.checksum = checksum;
            truncate((bit<32>)FAST_CNP_FRAME_LENGTH);
        } else if (meta.base.copy_kind == NotificationKind.END_CON_CNP) {
            truncate((bit<32>)END_CON_COPY_LENGTH);
        }
        recirculate_preserving_field_list(KEEP_COPY);
    }
}

#endif
