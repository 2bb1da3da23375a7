#ifndef FCN_FANTEL_PE_PATH_REPORTED_P4
#define FCN_FANTEL_PE_PATH_REPORTED_P4

#include "../../../base/v1model/pe.p4"
#include "../receive_fantel.p4"

// PathReported: the controller says something of a path, behind a packet-out to the CPU port.
// Writes: hdr.path_report, or where it says that a speaker's order is forgotten reporter_order; meta.base.now, is_settled, is_done.
// When:   a packet-out.
control PathReported(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.path_report.isValid()) {
            if (hdr.path_report.report == PathReport.FORGET) {
                reporter_order.write((reporter_cell_t)hdr.path_report.reporter, 0);
                hdr.path_report.setInvalid();
            }
            meta.base.now = standard_metadata.ingress_global_timestamp;
            meta.base.is_settled = true;
            meta.base.is_done = true;
        }
    }
}

#endif
