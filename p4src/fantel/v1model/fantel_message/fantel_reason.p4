#ifndef FCN_FANTEL_REASON_P4
#define FCN_FANTEL_REASON_P4

#include "../../../base/v1model/p.p4"
#include "../link_registers.p4"
#include "fantel_draft.p4"

// FantelReason: which message it is; of a failure also why, of a load how much (FAN-1).
// Reads:  hdr.notice; link_causes.
// Writes: hdr.fantel.cause or load; draft.
// When:   behind FantelOrigin.
control FantelReason(inout p_headers_t hdr, inout fantel_draft_t draft) {
    apply {
        draft.type = FantelType.FAILURE;
        draft.cause = 0;
        draft.load = 0;
        if (hdr.notice.report == PathReport.WELL) {
            draft.type = FantelType.FAILURE_CLEARED;
        } else if (hdr.notice.report == PathReport.RELIEVED) {
            draft.type = FantelType.CONGESTION_CLEARED;
        } else if (hdr.notice.report == PathReport.CONGESTED) {
            draft.type = FantelType.CONGESTION;
        } else if (hdr.notice.report == PathReport.LOAD) {
            draft.type = FantelType.LOAD;
            hdr.fantel.load.setValid();
            hdr.fantel.load.tlv_utilization = TLV_UTILIZATION;
            hdr.fantel.load.utilization = hdr.notice.utilization ++ 16w0;
            hdr.fantel.load.tlv_load = TLV_LOAD;
            hdr.fantel.load.load = hdr.notice.load ++ 16w0;
            draft.load = TLV_UTILIZATION ++ hdr.notice.utilization ++ 16w0 ++ TLV_LOAD ++ hdr.notice.load ++ 16w0;
            draft.code = draft.code | FANTEL_UTILIZATION | FANTEL_LOAD;
            draft.length = draft.length + 2 * FANTEL_WORD_LENGTH;
        } else {
            bit<8> why;
            link_causes.read(why, hdr.notice.port);
            hdr.fantel.cause.setValid();
            hdr.fantel.cause.tlv = TLV_CAUSE;
            hdr.fantel.cause.value = why ++ 24w0;
            draft.cause = TLV_CAUSE ++ why ++ 24w0;
            draft.code = draft.code | FANTEL_CAUSE;
            draft.length = draft.length + FANTEL_WORD_LENGTH;
        }
    }
}

#endif
