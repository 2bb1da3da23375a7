#ifndef FCN_UNDERLAY_ARRIVAL_P4
#define FCN_UNDERLAY_ARRIVAL_P4

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

// UnderlayArrival: what a packet of the WAN wants of a PE: a tunnel's end, the next segment, a
// notification to translate, the controller, or transit. A transit packet needs no more than a sound
// outer header; one for this node must be sound throughout.
// Reads:  underlay headers, Fast CNP word; what UnderlayLookup found; meta.parse_failed and its likes.
// Writes: meta.forward, meta.vrf, meta.notify, meta.notify_label, meta.punt_reason,
//         meta.drop_reason; outer hop limit; outer destination (SRv6 End).
// When:   after UnderlayLookup.
control UnderlayArrival(inout pe_headers_t hdr, inout meta_t meta) {
    Srv6End() srv6_end;

    apply {
        if (hdr.outer_ipv6.version != 6) {
            meta.drop_reason = DropReason.MALFORMED;
        } else if (meta.is_local && meta.is_notification) {
            if (!meta.is_trusted) {
                meta.drop_reason = DropReason.NOTIFICATION_UNTRUSTED;
            } else if (!hdr.fast_cnp.isValid() || meta.udp_checksum_failed
                       || hdr.outer_ipv6.payload_len != FAST_CNP_UDP_LENGTH) {
                meta.drop_reason = DropReason.NOTIFICATION_MALFORMED;
            } else {
                meta.notify_label = hdr.fast_cnp.word[31:12];
                meta.notify = true;
            }
        } else if (meta.is_nd && !hdr.ipv6.isValid()) {
            meta.punt_reason = PuntReason.ND;
        } else if (meta.is_end_sid) {
            srv6_end.apply(
                hdr.outer_ipv6, hdr.srh, hdr.segment0, hdr.segment1, hdr.segment2, hdr.segment3,
                meta);
            meta.forward = Forward.UNDERLAY;
        } else if (!meta.is_service_sid && !meta.is_local) {
            meta.forward = Forward.UNDERLAY;
        } else if (meta.unsupported_tunnel) {
            meta.drop_reason = DropReason.UNSUPPORTED;
        } else if (meta.parse_failed) {
            meta.drop_reason = DropReason.MALFORMED;
        } else if (meta.is_service_sid) {
            if (hdr.srh.isValid() && hdr.srh.segments_left != 0) {
                meta.drop_reason = DropReason.SRH_INVALID;
            } else {
                meta.vrf = meta.service_vrf;
                meta.forward = Forward.VRF;
            }
        } else if (meta.tunnel_type == TunnelType.NONE) {
            meta.punt_reason = PuntReason.UNDERLAY_LOCAL;
        } else if (meta.is_known_tunnel) {
            meta.vrf = meta.tunnel_vrf;
            meta.forward = Forward.VRF;
        } else {
            meta.drop_reason = DropReason.UNKNOWN_TUNNEL;
        }

        if (meta.forward == Forward.UNDERLAY && meta.drop_reason == DropReason.NONE) {
            if (hdr.outer_ipv6.hop_limit <= 1) {
                meta.drop_reason = DropReason.TTL_EXPIRED;
            } else {
                hdr.outer_ipv6.hop_limit = hdr.outer_ipv6.hop_limit - 1;
            }
        }
    }
}

#endif
