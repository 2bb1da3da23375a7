#ifndef FCN_FANTEL_PE_PATH_FLOW_P4
#define FCN_FANTEL_PE_PATH_FLOW_P4

#include "../../../base/v1model/pe.p4"

// PathFlow: the flow that a FANTEL message names is looked up by its label, whatever the message came in.
// Writes: meta.notify_label, meta.base.notification_kind.
// When:   before UnderlayLookup.
control PathFlow(
        inout pe_headers_t hdr, inout pe_meta_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.base.parse_more == ParseMore.FANTEL && hdr.five_tuple.head.isValid()) {
            meta.notify_label = hdr.five_tuple.head.label;
        }
        if (hdr.fantel.icmpv6.isValid()) {
            meta.base.notification_kind = NotificationKind.FANTEL;
        }
    }
}

#endif
