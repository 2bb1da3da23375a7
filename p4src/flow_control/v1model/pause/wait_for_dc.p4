#ifndef FCN_WAIT_FOR_DC_P4
#define FCN_WAIT_FOR_DC_P4

#include "../../../base/v1model/pe.p4"
#include "../../flow_control_types.p4"

// WaitForDc: what becomes of a packet that a PAUSE frame stops, or stopped. The first time it is parsed again, to be parked
// as it came; when it may leave, it is taken in again. A copy of what leaves tells the neighbour it came from that this is
// over.
// Reads:  what Hold said.
// Writes: meta.base.ingress_port, meta.base.parse_more of the next pass. Ends this pass, where there is another.
// When:   behind Holding, a packet that is on its way out of a DC port or waited for one.
control WaitForDc(inout pe_meta_t meta) {
    apply {
        if (meta.flow_control.request == HoldRequest.PASS && meta.flow_control.verdict == HoldVerdict.WAIT) {
            meta.base.parse_more = WAITED_FOR_DC;
            resubmit_preserving_field_list(KEEP_PARKED);
            exit;
        }
        if (meta.flow_control.request == HoldRequest.TURN && meta.flow_control.verdict == HoldVerdict.GO) {
            meta.base.ingress_port = meta.flow_control.upstream_port;
            clone_preserving_field_list(CloneType.I2E, (bit<32>)CloneSession.RECIRC, KEEP_COPY);
            resubmit_preserving_field_list(KEEP_FLAT);
            exit;
        }
    }
}

#endif
