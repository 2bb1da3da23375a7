#ifndef FCN_SRV6_END_P4
#define FCN_SRV6_END_P4

// Srv6End: advances a packet to its next segment (RFC 8986 section 4.1, End).
// Reads:  SRH, segment list of 1 to 4 SIDs.
// Writes: outer destination, segments_left; meta.drop_reason when there is no next segment or the
//         SRH is longer than the parser takes (it then has no segment headers).
// When:   meta.is_end_sid.
control Srv6End(
        inout ipv6_h outer_ipv6,
        inout srh_h srh,
        in srv6_segment_h segment0,
        in srv6_segment_h segment1,
        in srv6_segment_h segment2,
        in srv6_segment_h segment3,
        inout meta_t meta) {
    apply {
        if (!srh.isValid()) {
            meta.drop_reason = DropReason.SRH_INVALID;
        } else if (srh.segments_left == 1 && segment0.isValid()) {
            outer_ipv6.dst = segment0.sid;
            srh.segments_left = 0;
        } else if (srh.segments_left == 2 && segment1.isValid()) {
            outer_ipv6.dst = segment1.sid;
            srh.segments_left = 1;
        } else if (srh.segments_left == 3 && segment2.isValid()) {
            outer_ipv6.dst = segment2.sid;
            srh.segments_left = 2;
        } else if (srh.segments_left == 4 && segment3.isValid()) {
            outer_ipv6.dst = segment3.sid;
            srh.segments_left = 3;
        } else {
            meta.drop_reason = DropReason.SRH_INVALID;
        }
    }
}

#endif
