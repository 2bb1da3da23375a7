#ifndef FCN_REPORT_P4
#define FCN_REPORT_P4

#include "../../base/v1model/pe.p4"
#include "../../base/rate_limits.p4"
#include "../digests.p4"

// DigestFilter: one digest per learning window for the packets of one new flow (FCN-3).
// Reads:  hash over what is to be reported, VRF, window and time now in microseconds.
// Writes: report; the cell: tag(32) time(32). The tag is what the index leaves of the hash and the VRF, so
//         that no tenant's invented packets pass for another's.
// When:   something is about to be reported.
control DigestFilter(
        in bit<32> fingerprint, in vrf_t vrf, in microseconds_t window, in bit<48> now, out bool report) {
    register<bit<64>, bit<16>>(DIGEST_FILTER_SIZE) last_report;

    apply {
        bit<64> last;
        bit<16> index = fingerprint[15:0];
        bit<32> tag = fingerprint[31:16] ++ vrf;
        last_report.read(last, index);
        report = last[63:32] != tag || last == 0 || now[31:0] - last[31:0] >= window;
        if (report) {
            last_report.write(index, tag ++ now[31:0]);
        }
    }
}

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

// Report: new flows and connection set-ups to the controller, within the limit of the VRF.
// Reads:  meta.learning_*, meta.base.ingress_port, meta.cm, customer headers.
// Writes: meta.cm.qpn; refused: the limit kept a report back.
// When:   a RoCEv2 packet from a DC port enters a tunnel, and it is the connection manager's or one of a flow
//         that has no label yet or is watched.
control Report(
        in pe_headers_t hdr,
        inout pe_meta_t meta,
        in bit<48> now,
        out bool refused) {
    @name(".reports")
    counter<ReportKind>(REASON_COUNTER_SIZE, CounterType.packets_and_bytes) reports;

    DigestFilter() filter;
    ReportLimit() report_limit;

    apply {
        bit<32> fingerprint;
        bool report = false;
        if (!meta.cm.is_valid) {
            meta.cm.qpn = hdr.roce.bth.dest_qp;
        }

        // With the port: who invents packets of a host behind another does not use up its reports.
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
        filter.apply(fingerprint, meta.base.vrf, meta.learning_window, now, report);
        refused = false;
        if (report) {
            color_t color = GREEN;
            if (meta.cm.is_valid) {
                reports.count(ReportKind.CM_MESSAGE);
            } else {
                reports.count(ReportKind.NEW_FLOW);
            }
            report_limit.apply(meta.base.vrf, color);
            refused = color != GREEN;
        }

        if (!report || refused) {
            // Nothing is sent.
        } else if (meta.cm.is_valid) {
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
