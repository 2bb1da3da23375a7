#ifndef FCN_FANTEL_ORIGIN_P4
#define FCN_FANTEL_ORIGIN_P4

#include "../../../base/v1model/p.p4"
#include "fantel_draft.p4"

// Of the messages of this node
register<bit<32>, bit<1>>(1) fantel_sequence;

// FantelOrigin: what every FANTEL message has: who sends it, in which order, about which link and path (FAN-1).
// Reads:  hdr.notice.
// Writes: hdr.fantel.about, but what FantelProfile and FantelForm write; draft; fantel_sequence.
// When:   first.
control FantelOrigin(inout p_headers_t hdr, inout fantel_draft_t draft) {
    apply {
        draft.code = FANTEL_ORIGIN | FANTEL_PATH;
        draft.length = UDP_LENGTH + FANTEL_LENGTH + FANTEL_WORD_LENGTH;
        hdr.fantel.about.setValid();
        hdr.fantel.about.tlv_origin = TLV_ORIGIN;
        hdr.fantel.about.link = (bit<32>)hdr.notice.port;
        bit<32> sequence;
        fantel_sequence.read(sequence, 0);
        sequence = sequence + 1;
        fantel_sequence.write(0, sequence);
        hdr.fantel.about.sequence = sequence;
        hdr.fantel.about.tlv_path = TLV_PATH;
        hdr.fantel.about.path_id = hdr.notice.path_id;
    }
}

#endif
