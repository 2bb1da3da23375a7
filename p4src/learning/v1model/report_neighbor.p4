#ifndef FCN_REPORT_NEIGHBOR_P4
#define FCN_REPORT_NEIGHBOR_P4

#include "../../base/v1model/pe.p4"
#include "../digests.p4"

// ReportNeighbor: a host that asked for its gateway to the controller, which learns hosts from it.
// Reads:  meta.base.ingress_port, meta.base.vlan_id; the answer, whose destination is the host.
// Writes: nothing.
// When:   meta.answered, within the limit of the VRF.
control ReportNeighbor(in pe_headers_t hdr, in pe_meta_t meta) {
    apply {
        if (hdr.neighbor.arp.isValid()) {
            digest<neighbor_ipv4_t>(1, { meta.base.ingress_port, meta.base.vlan_id,
                                         hdr.neighbor.arp.target, hdr.neighbor.arp.target_mac });
        } else {
            digest<neighbor_ipv6_t>(1, { meta.base.ingress_port, meta.base.vlan_id, hdr.ipv6.dst,
                                         hdr.ethernet.dst });
        }
    }
}

#endif
