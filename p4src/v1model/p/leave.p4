#ifndef FCN_P_LEAVE_P4
#define FCN_P_LEAVE_P4

#include "../../base/v1model/p.p4"
#include "../../fast_cnp/ecn_mark.p4"
#include "../../fast_cnp/queue_level.p4"

// Leave: what the queue says of a packet that leaves by a wire, and its mark (FCN-10, SRF-3).
// Reads:  queue; meta.base.stays.
// Writes: meta.base.level, level_mark, level_notifies, level_interval; ECN field; counters.
// When:   in egress, no copy.
control Leave(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    QueueLevel() queue_level;
    CurveMarking() curve_marking;
    HoldLeaving() hold_leaving;
    LinkLeaving() link_leaving;
    EcnMark() ecn_mark;

    apply {
        if (!meta.base.stays) {
            port_tx.count(standard_metadata.egress_port);
            queue_level.apply(
                standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                standard_metadata.deq_qdepth, meta.base);
            curve_marking.apply(hdr, meta, standard_metadata);
            hold_leaving.apply(hdr, meta, standard_metadata);
            link_leaving.apply(hdr, meta, standard_metadata);
            if (meta.base.level_mark != Ecn.NOT_ECT && hdr.outer_ipv6.isValid()) {
                bool marked = false;
                ecn_mark.apply(hdr.outer_ipv6.ecn, meta.base.level_mark, marked);
                if (marked) {
                    ecn_marked.count(meta.base.level_mark);
                }
            }
        }
    }
}

#endif
