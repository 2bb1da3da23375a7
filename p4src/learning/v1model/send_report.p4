#ifndef FCN_SEND_REPORT_P4
#define FCN_SEND_REPORT_P4

#include "../../base/v1model/pe.p4"
#include "../digests.p4"

// SendReport: a message of the connection manager, or a packet of a flow, to the controller.
// Reads:  meta.cm, meta.base.vrf, meta.base.ingress_port; customer and RoCE headers.
// Writes: nothing.
// When:   it is due, within the limit of the VRF.
control SendReport(in pe_headers_t hdr, in pe_meta_t meta) {
    apply {
        if (meta.cm.is_valid) {
            if (hdr.ipv4.isValid()) {
                digest<cm_ipv4_t>(1, { meta.base.vrf, hdr.ipv4.src, hdr.ipv4.dst,
                                       meta.cm.local_comm_id, meta.cm.remote_comm_id, meta.cm.qpn,
                                       meta.cm.attribute ++ meta.base.ingress_port });
            } else {
                digest<cm_ipv6_t>(1, { meta.base.vrf, hdr.ipv6.src, hdr.ipv6.dst,
                                       meta.cm.local_comm_id, meta.cm.remote_comm_id, meta.cm.qpn,
                                       meta.cm.attribute ++ meta.base.ingress_port });
            }
        } else {
            if (hdr.ipv4.isValid()) {
                digest<new_flow_ipv4_t>(1, { meta.base.vrf, hdr.ipv4.src, hdr.ipv4.dst,
                                             hdr.roce.bth.dest_qp, hdr.roce.bth.p_key,
                                             hdr.roce.bth.psn, hdr.udp.src_port,
                                             hdr.roce.bth.opcode, meta.base.ingress_port });
            } else {
                digest<new_flow_ipv6_t>(1, { meta.base.vrf, hdr.ipv6.src, hdr.ipv6.dst,
                                             hdr.roce.bth.dest_qp, hdr.roce.bth.p_key,
                                             hdr.roce.bth.psn, hdr.udp.src_port,
                                             hdr.roce.bth.opcode, meta.base.ingress_port });
            }
        }
    }
}

#endif
