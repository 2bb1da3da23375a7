#ifndef FCN_UNDERLAY_LOOKUP_P4
#define FCN_UNDERLAY_LOOKUP_P4

// UnderlayLookup: everything the tables know about a packet of the WAN.
// Reads:  underlay addresses; meta.tunnel_type, meta.tunnel_id; meta.copy, meta.is_notification,
//         meta.notify_label.
// Writes: meta.is_local, meta.is_end_sid, meta.is_trusted, and what FlowByLabel or ServiceTermination
//         writes.
// When:   the packet came from a core port and has underlay headers, or is a copy made here of one.
control UnderlayLookup(inout pe_headers_t hdr, inout meta_t meta) {
    Endpoint() endpoint;
    TrustBoundary() trust_boundary;
    FlowByLabel() flow_by_label;
    ServiceTermination() service_termination;

    apply {
        endpoint.apply(hdr.outer_ipv6.dst, meta);
        trust_boundary.apply(hdr.outer_ipv6.src, meta);
        // Either of them says whose VRF it is; branches need not wait for each other (Tofino).
        if (meta.copy == Copy.OWN_CONGESTION
                || (meta.is_notification && meta.is_local && meta.is_trusted
                    && hdr.fast_cnp.isValid())) {
            flow_by_label.apply(hdr, meta);
        } else {
            service_termination.apply(hdr.outer_ipv6.dst, meta);
        }
    }
}

#endif
