// What happens behind the queue.
#ifndef FCN_P_EGRESS_P4
#define FCN_P_EGRESS_P4

#include "../../base/v1model/p.p4"
#include "../../end_con/end_con_cnp.p4"
#include "../../fast_cnp/ecn_mark.p4"
#include "../../fast_cnp/fast_cnp_profile.p4"
#include "../../fast_cnp/queue_level.p4"
#include "../../fast_cnp/v1model/cnp_udp_checksum.p4"
#include "make_message.p4"
#include "tell.p4"

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

// PEgress: the steps behind the queue. A copy becomes a message; any other packet leaves, and what its queue says is told.
control PEgress(
        inout p_headers_t hdr, inout p_meta_t meta, inout standard_metadata_t standard_metadata) {
    HoldOrigin() hold_origin;
    FastCnpProfile() fast_cnp_profile;
    MakeMessage() make_message;
    ClockLeaving() clock_leaving;
    HoldAsk() hold_ask;
    Leave() leave;
    Tell() tell;
    HoldEnd() hold_end;
    EndConProfile() end_con_profile;
    CnpUdpChecksum() cnp_udp_checksum;

    apply {
        hold_origin.apply(hdr, meta, standard_metadata);
        if (meta.base.copy_kind != NotificationKind.NONE) {
            fast_cnp_profile.apply(hdr.fast_cnp_profile);
        }
        if (standard_metadata.instance_type == INSTANCE_EGRESS_CLONE) {
            make_message.apply(hdr, meta, standard_metadata);
        } else {
            clock_leaving.apply(hdr, meta, standard_metadata);
            if (standard_metadata.egress_port != CPU_PORT) {
                hold_ask.apply(hdr, meta, standard_metadata);
                leave.apply(hdr, meta, standard_metadata);
                tell.apply(hdr, meta, standard_metadata);
                hold_end.apply(hdr, meta, standard_metadata);
                if (hdr.inner.cnp_payload.isValid()) {
                    end_con_profile.apply(hdr);
                    if (hdr.inner.ipv6.isValid()) {
                        cnp_udp_checksum.apply(
                            hdr.inner.ipv6, hdr.inner.bth, hdr.inner.cnp_payload, hdr.inner.udp);
                    }
                }
            }
        }
    }
}

#endif
