#ifndef FCN_FANTEL_QUEUE_P4
#define FCN_FANTEL_QUEUE_P4

#include "../../../base/v1model/p.p4"
#include "fantel_draft.p4"

// FantelQueue: how long the queue is in which packets of the path wait (FAN-1).
// Reads:  hdr.notice.
// Writes: hdr.fantel.buffer; draft.
// When:   behind FantelReason; congestion or a load is said, and the queue has a level.
control FantelQueue(inout p_headers_t hdr, inout fantel_draft_t draft) {
    apply {
        draft.buffer = 0;
        if ((hdr.notice.report == PathReport.CONGESTED || hdr.notice.report == PathReport.LOAD)
                && hdr.notice.level != 0) {
            hdr.fantel.buffer.setValid();
            hdr.fantel.buffer.tlv = TLV_BUFFER;
            hdr.fantel.buffer.queue = 0;
            hdr.fantel.buffer.level = hdr.notice.level;
            hdr.fantel.buffer.reserved = 0;
            hdr.fantel.buffer.depth = hdr.notice.depth;
            draft.buffer = TLV_BUFFER ++ 8w0 ++ hdr.notice.level ++ 16w0 ++ hdr.notice.depth;
            draft.code = draft.code | FANTEL_BUFFER;
            draft.length = draft.length + FANTEL_BUFFER_LENGTH;
        }
    }
}

#endif
