#ifndef FCN_FANTEL_PE_PATH_UPDATE_P4
#define FCN_FANTEL_PE_PATH_UPDATE_P4

#include "../../../base/v1model/pe.p4"
#include "../path_state.p4"

// PathUpdate: a report on a path changes where packets go; where nothing better is left the sender gets a CNP, as by a Fast
// CNP (FAN-4, FAN-6).
// Reads:  hdr.path_report; meta.notify_label, label_fault.
// Writes: what PathState writes; meta.make_cnp, meta.base.forward, is_done.
// When:   behind what may have a report.
control PathUpdate(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    PathState() path_state;

    apply {
        if (hdr.path_report.isValid()) {
            bool nothing_left;
            path_state.apply(hdr.path_report, meta.base.now, nothing_left);
            if (nothing_left && meta.notify_label & FCN_LABEL_BIT != 0 && meta.label_fault == DropReason.NONE
                    && meta.base.mode.translates != NotificationKind.NONE) {
                hdr.five_tuple.head.setInvalid();
                hdr.five_tuple.ipv4.setInvalid();
                hdr.five_tuple.ipv6.setInvalid();
                hdr.five_tuple.ports.setInvalid();
                meta.base.is_done = false;
                meta.make_cnp = true;
                meta.base.forward = Forward.VRF;
            }
        }
    }
}

#endif
