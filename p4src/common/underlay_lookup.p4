#ifndef FCN_UNDERLAY_LOOKUP_P4
#define FCN_UNDERLAY_LOOKUP_P4

// UnderlayLookup: everything the tables know about a packet of the WAN.
// Reads:  underlay addresses; meta.tunnel_type, meta.tunnel_id.
// Writes: meta.is_local, meta.is_end_sid, meta.is_trusted, and what ServiceTermination writes.
// When:   the packet came from a core port and has underlay headers.
control UnderlayLookup(in ipv6_h outer_ipv6, inout meta_t meta) {
    Endpoint() endpoint;
    TrustBoundary() trust_boundary;
    ServiceTermination() service_termination;

    apply {
        endpoint.apply(outer_ipv6.dst, meta);
        trust_boundary.apply(outer_ipv6.src, meta);
        service_termination.apply(outer_ipv6.dst, meta);
    }
}

#endif
