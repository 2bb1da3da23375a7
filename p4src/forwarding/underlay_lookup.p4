#ifndef FCN_UNDERLAY_LOOKUP_P4
#define FCN_UNDERLAY_LOOKUP_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../fast_cnp/flow_by_label.p4"
#include "../fast_cnp/trust_boundary.p4"
#include "endpoint.p4"
#include "service_sid.p4"
#include "tunnel_vrf.p4"

// UnderlayLookup: everything the tables know about a packet of the WAN.
// Reads:  underlay addresses; meta.tunnel_type, meta.tunnel_id; meta.base.copy_kind,
//         meta.base.notification_kind, meta.notify_label.
// Writes: meta.base.destination, meta.is_trusted, and what ServiceSid and FlowByLabel or TunnelVrf write.
// When:   the packet came from a core port and has underlay headers, or is a copy made here of one.
control UnderlayLookup(inout pe_headers_t hdr, inout pe_meta_t meta) {
    Endpoint() endpoint;
    TrustBoundary() trust_boundary;
    FlowByLabel() flow_by_label;
    ServiceSid() service_sid;
    TunnelVrf() tunnel_vrf;

    apply {
        endpoint.apply(hdr.outer_ipv6.dst, meta.base);
        service_sid.apply(hdr.outer_ipv6.dst, meta);
        trust_boundary.apply(hdr.outer_ipv6.src, meta);
        // Either of them says whose VRF it is.
        if (meta.base.copy_kind != NotificationKind.NONE
                || (NAMES_A_FLOW(meta.base.notification_kind)
                    && meta.base.destination == Destination.NODE && meta.is_trusted)
                || (meta.base.destination == Destination.END_CON && meta.is_trusted)) {
            flow_by_label.apply(hdr, meta);
        } else {
            tunnel_vrf.apply(hdr.tunnel, meta);
        }
    }
}

#endif
