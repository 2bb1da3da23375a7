#ifndef FCN_REPORT_P4
#define FCN_REPORT_P4

#include "../../base/v1model/pe.p4"
#include "../../base/rate_limits.p4"
#include "digest_filter.p4"
#include "fingerprint.p4"
#include "send_report.p4"

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

    Fingerprint() fingerprint_of_packet;
    DigestFilter() filter;
    ReportLimit() report_limit;
    SendReport() send_report;

    apply {
        bit<32> fingerprint;
        bool report = false;
        fingerprint_of_packet.apply(hdr, meta, fingerprint);
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
            if (!refused) {
                send_report.apply(hdr, meta);
            }
        }
    }
}

#endif
