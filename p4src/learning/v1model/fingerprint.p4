#ifndef FCN_FINGERPRINT_P4
#define FCN_FINGERPRINT_P4

#include "../../base/v1model/pe.p4"

// Fingerprint: a hash over what Report may report, the same for all packets of a new flow. With the port: who invents
// packets of a host behind another does not use up its reports.
// Reads:  meta.base.vrf, meta.base.ingress_port, customer addresses, DestQP, meta.cm.
// Writes: fingerprint; meta.cm.qpn of a packet that is not the connection manager's.
// When:   a packet is about to be reported.
control Fingerprint(in pe_headers_t hdr, inout pe_meta_t meta, out bit<32> fingerprint) {
    apply {
        if (!meta.cm.is_valid) {
            meta.cm.qpn = hdr.roce.bth.dest_qp;
        }
        if (hdr.ipv4.isValid()) {
            hash(fingerprint, HashAlgorithm.crc32, 32w0,
                 { meta.base.vrf ++ hdr.ipv4.src,
                   hdr.ipv4.dst ++ meta.cm.attribute ++ meta.base.ingress_port,
                   meta.cm.local_comm_id ++ meta.cm.remote_comm_id, meta.cm.qpn },
                 64w0x100000000);
        } else {
            hash(fingerprint, HashAlgorithm.crc32, 32w0,
                 { meta.base.vrf, hdr.ipv6.src, hdr.ipv6.dst,
                   meta.cm.attribute ++ meta.base.ingress_port ++ meta.cm.local_comm_id,
                   meta.cm.remote_comm_id ++ meta.cm.qpn },
                 64w0x100000000);
        }
    }
}

#endif
