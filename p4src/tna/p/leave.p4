#ifndef FCN_TNA_P_LEAVE_P4
#define FCN_TNA_P_LEAVE_P4

#include "../../base/sizes.p4"
#include "../../fast_cnp/queue_level.p4"
#include "../p_metadata.p4"

// Leave: what the queue says of a packet that leaves by a wire (FCN-10).
// Reads:  queue, time.
// Writes: md.meta.base.now, level, level_mark, level_notifies, level_interval; counter port_tx.
// When:   in egress, no copy.
control Leave(
        in p_pass_headers_t hdr,
        inout tna_p_meta_t md,
        in egress_intrinsic_metadata_t eg_intr_md,
        in egress_intrinsic_metadata_from_parser_t eg_prsr_md) {
    @name(".port_tx")
    Counter<bit<32>, port_t>(PORT_COUNTER_SIZE, CounterType_t.PACKETS_AND_BYTES) port_tx;

    QueueLevel() queue_level;
    CurveMarking() curve_marking;

    action take_time() {
        md.meta.base.now = TICKS(eg_prsr_md.global_tstamp);
    }

    apply {
        take_time();
        queue_level.apply(
            eg_intr_md.egress_port, (bit<5>)eg_intr_md.egress_qid, eg_intr_md.deq_qdepth, md.meta.base);
        curve_marking.apply(eg_intr_md, md.meta.base);
        port_tx.count(eg_intr_md.egress_port, sizeInBytes(hdr.bridge) + ARRIVAL_LENGTH);
    }
}

#endif
