// What happens behind the queue.
#ifndef FCN_PE_EGRESS_P4
#define FCN_PE_EGRESS_P4

#include "../../base/v1model/pe.p4"
#include "../../fast_cnp/queue_level.p4"
#include "../../fast_cnp/v1model/cnp_udp_checksum.p4"
#include "make_message.p4"
#include "mark.p4"
#include "tell.p4"

// Leave: what the queue says of a packet that leaves by a wire, and its mark (FCN-10, SRF-3).
// Reads:  queue; meta.base.stays; meta.make_cnp.
// Writes: meta.base.level, level_mark, level_notifies, level_interval; ECN field; counters.
// When:   in egress, no copy.
control Leave(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    QueueLevel() queue_level;
    CurveMarking() curve_marking;
    HoldLeaving() hold_leaving;
    LinkLeaving() link_leaving;
    Mark() mark;

    apply {
        if (standard_metadata.egress_port != CPU_PORT && !meta.base.stays) {
            port_tx.count(standard_metadata.egress_port);
            queue_level.apply(
                standard_metadata.egress_port, (bit<5>)standard_metadata.priority,
                standard_metadata.deq_qdepth, meta.base);
            curve_marking.apply(hdr, meta, standard_metadata);
            hold_leaving.apply(hdr, meta, standard_metadata);
            link_leaving.apply(hdr, meta, standard_metadata);
            if (meta.base.level_mark != Ecn.NOT_ECT && !meta.make_cnp) {
                mark.apply(hdr, meta, standard_metadata);
            }
        }
    }
}

// PeEgress: the steps behind the queue. A copy becomes a message; any other packet leaves, and what its queue says is told.
control PeEgress(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldOrigin() hold_origin;
    MakeMessage() make_message;
    ClockLeaving() clock_leaving;
    HoldAsk() hold_ask;
    Leave() leave;
    PathCongested() path_congested;
    Tell() tell;
    HoldEnd() hold_end;
    CnpUdpChecksum() cnp_udp_checksum;

    apply {
        hold_origin.apply(hdr, meta, standard_metadata);
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            make_message.apply(hdr, meta, standard_metadata);
        } else {
            clock_leaving.apply(hdr, meta, standard_metadata);
            hold_ask.apply(hdr, meta, standard_metadata);
            leave.apply(hdr, meta, standard_metadata);
            path_congested.apply(hdr, meta, standard_metadata);
            if (meta.base.level_notifies == 1 || meta.tell_interval != 0) {
                tell.apply(hdr, meta, standard_metadata);
            }
            hold_end.apply(hdr, meta, standard_metadata);
            if (meta.make_cnp && hdr.ipv6.isValid()) {
                cnp_udp_checksum.apply(hdr.ipv6, hdr.roce.bth, hdr.roce.cnp_payload, hdr.udp);
            }
        }
    }
}

#endif
