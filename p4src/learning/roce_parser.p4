#ifndef FCN_ROCE_PARSER_P4
#define FCN_ROCE_PARSER_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"

// Sub-parser of RoCEv2: BTH, and of the connection manager's messages on QP1 what Report needs.
parser RoceParser(packet_in packet, inout roce_headers_t roce, inout cm_meta_t cm) {
    state start {
        packet.extract(roce.bth);
        transition select(roce.bth.opcode, roce.bth.dest_qp) {
            (BthOpcode.UD_SEND_ONLY, QP1): parse_deth;
            default: accept;
        }
    }
    state parse_deth {
        packet.extract(roce.deth);
        packet.extract(roce.mad);
        cm.attribute = roce.mad.attribute[6:0];
        transition select(roce.mad.mgmt_class, roce.mad.attribute) {
            (MAD_CLASS_CM, CmAttribute.REQ): parse_req;
            (MAD_CLASS_CM, CmAttribute.REP): parse_rep;
            (MAD_CLASS_CM, CmAttribute.DREQ): parse_dreq;
            (MAD_CLASS_CM, 16w0 &&& 16w0xff80): parse_other;
            default: accept;
        }
    }
    // The local QPN is octets 24 to 26 behind the IDs of a REQ, 4 to 6 behind those of a REP. In a REQ the
    // second word of the IDs is reserved.
    state parse_req {
        packet.extract(roce.cm_ids);
        cm.is_valid = true;
        cm.local_comm_id = roce.cm_ids.local_comm_id;
        cm.qpn = packet.lookahead<bit<216>>()[23:0];
        transition accept;
    }
    state parse_rep {
        packet.extract(roce.cm_ids);
        cm.is_valid = true;
        cm.local_comm_id = roce.cm_ids.local_comm_id;
        cm.remote_comm_id = roce.cm_ids.remote_comm_id;
        cm.qpn = packet.lookahead<bit<56>>()[23:0];
        transition accept;
    }
    // The remote QPN
    state parse_dreq {
        packet.extract(roce.cm_ids);
        cm.is_valid = true;
        cm.local_comm_id = roce.cm_ids.local_comm_id;
        cm.remote_comm_id = roce.cm_ids.remote_comm_id;
        cm.qpn = packet.lookahead<qpn_t>();
        transition accept;
    }
    state parse_other {
        packet.extract(roce.cm_ids);
        cm.is_valid = true;
        cm.local_comm_id = roce.cm_ids.local_comm_id;
        cm.remote_comm_id = roce.cm_ids.remote_comm_id;
        transition accept;
    }
}

#endif
