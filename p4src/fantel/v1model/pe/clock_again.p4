#ifndef FCN_FANTEL_PE_CLOCK_AGAIN_P4
#define FCN_FANTEL_PE_CLOCK_AGAIN_P4

#include "../../../base/v1model/pe.p4"
#include "../clock.p4"

// ClockAgain: the clock packet has come round; what it finds of the first link of a path this PE knows itself.
// Writes: meta.base.is_settled, egress_port or is_done; hdr.path_report; what Clock writes.
// When:   a later pass, behind what concerns copies.
control ClockAgain(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    Clock() clock;

    apply {
        if (meta.fantel.is_clock == 1) {
            meta.base.is_settled = true;
            meta.base.egress_port = CLOCK_PORT;
            clock.apply(hdr.clock, meta.base.now, hdr.envelope, hdr.hello, hdr.notice, meta.base);
            if (!meta.base.is_done && hdr.notice.is_wanted == 1) {
                hdr.path_report.setValid();
                hdr.path_report.path_id = hdr.notice.path_id;
                hdr.path_report.reporter = PATH_BY_PE;
                hdr.path_report.report = hdr.notice.report;
                hdr.path_report.load = PATH_LOAD(hdr.notice.utilization, hdr.notice.level);
            }
        }
    }
}

#endif
