#ifndef FCN_SRV6_END_P4
#define FCN_SRV6_END_P4

#include "../base/headers.p4"

// Srv6End: advances a packet to its next segment (RFC 8986 section 4.1, End).
// Reads:  SRH, segment list.
// Writes: outer destination, segments_left; fault when there is no next segment or the SRH is longer
//         than the parser takes (it then has no segment headers).
// When:   meta.destination == END_SID and the packet goes on in the WAN.
control Srv6End(inout ipv6_h outer_ipv6, inout srv6_headers_t srv6, inout DropReason fault) {
    action to_segment0() {
        outer_ipv6.dst = srv6.segment0.sid;
        srv6.srh.segments_left = 0;
    }
    action to_segment1() {
        outer_ipv6.dst = srv6.segment1.sid;
        srv6.srh.segments_left = 1;
    }
    action to_segment2() {
        outer_ipv6.dst = srv6.segment2.sid;
        srv6.srh.segments_left = 2;
    }
    action to_segment3() {
        outer_ipv6.dst = srv6.segment3.sid;
        srv6.srh.segments_left = 3;
    }
    action no_next_segment() {
        fault = DropReason.SRH_INVALID;
    }

    @name(".srv6_end")
    table srv6_end {
        key = {
            srv6.srh.isValid(): ternary @name("has_srh");
            srv6.srh.segments_left: ternary @name("segments_left");
            srv6.segment0.isValid(): ternary @name("has_segment0");
            srv6.segment1.isValid(): ternary @name("has_segment1");
            srv6.segment2.isValid(): ternary @name("has_segment2");
            srv6.segment3.isValid(): ternary @name("has_segment3");
        }
        actions = {
            to_segment0;
            to_segment1;
            to_segment2;
            to_segment3;
            no_next_segment;
        }
        const default_action = no_next_segment;
        const entries = {
            (true, 1, true, _, _, _): to_segment0();
            (true, 2, _, true, _, _): to_segment1();
            (true, 3, _, _, true, _): to_segment2();
            (true, 4, _, _, _, true): to_segment3();
        }
    }

    apply {
        srv6_end.apply();
    }
}

#endif
