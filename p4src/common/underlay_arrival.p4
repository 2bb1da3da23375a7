#ifndef FCN_UNDERLAY_ARRIVAL_P4
#define FCN_UNDERLAY_ARRIVAL_P4

// UnderlayArrival: what a packet of the WAN wants of a PE: a tunnel's end, the next segment, a
// notification to translate, the controller, or transit. A transit packet needs no more than a sound
// outer header; one for this node must be sound throughout.
// Reads:  underlay headers, Fast CNP word; meta.parse_failed and its likes.
// Writes: meta.forward, meta.vrf, meta.notify, meta.notify_label, meta.punt_reason,
//         meta.drop_reason; outer hop limit; outer destination (SRv6 End).
// When:   the packet came from a core port and has underlay headers.
control UnderlayArrival(inout pe_headers_t hdr, inout meta_t meta) {
    Endpoint() endpoint;
    Srv6End() srv6_end;
    ServiceTermination() service_termination;
    TrustBoundary() trust_boundary;

    apply {
        endpoint.apply(hdr.outer_ipv6.dst, meta);
        if (hdr.outer_ipv6.version != 6) {
            meta.drop_reason = DropReason.MALFORMED;
        } else if (meta.is_local && meta.is_notification) {
            trust_boundary.apply(hdr.outer_ipv6.src, meta);
            if (!meta.is_trusted) {
                meta.drop_reason = DropReason.NOTIFICATION_UNTRUSTED;
            } else if (!hdr.fast_cnp.isValid() || meta.udp_checksum_failed
                       || hdr.outer_ipv6.payload_len != FAST_CNP_UDP_LENGTH) {
                meta.drop_reason = DropReason.NOTIFICATION_MALFORMED;
            } else {
                meta.notify_label = hdr.fast_cnp.word[31:12];
                meta.notify = true;
            }
        } else if (meta.is_nd) {
            meta.punt_reason = PuntReason.ND;
        } else if (meta.is_end_sid) {
            srv6_end.apply(
                hdr.outer_ipv6, hdr.srh, hdr.segment0, hdr.segment1, hdr.segment2, hdr.segment3,
                meta);
            meta.forward = Forward.UNDERLAY;
        } else {
            service_termination.apply(hdr.outer_ipv6.dst, hdr.srh, meta);
            if (meta.unsupported_tunnel && (meta.is_local || meta.is_service_sid)) {
                meta.drop_reason = DropReason.UNSUPPORTED;
            } else if (meta.parse_failed && (meta.is_local || meta.is_service_sid)) {
                meta.drop_reason = DropReason.MALFORMED;
            } else if (meta.drop_reason == DropReason.NONE && meta.forward != Forward.VRF) {
                if (meta.is_local) {
                    meta.punt_reason = PuntReason.UNDERLAY_LOCAL;
                } else {
                    meta.forward = Forward.UNDERLAY;
                }
            }
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
