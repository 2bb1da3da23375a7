#ifndef FCN_ARRIVAL_P4
#define FCN_ARRIVAL_P4

// Arrival: what a packet wants of a PE: a customer's route, a tunnel's end, the next segment, transit,
// a notification to translate, the controller. One table, first row that matches; a chain of
// conditions would cost Tofino a stage for every few of them.
// A transit packet needs no more than a sound outer header; one for this node must be sound throughout.
// Reads:  header validity, meta.role, meta.copy, what the parser, CustomerPacket, CnpProfile and
//         UnderlayLookup found; not what FlowByLabel found, so that both can be asked at once.
// Writes: meta.forward, meta.make_cnp, meta.event, meta.punt_reason, meta.drop_reason; outer hop limit.
// When:   PortRole has accepted the packet, or it is a copy made here.
control Arrival(inout pe_headers_t hdr, inout meta_t meta) {
    action refuse(DropReason reason) {
        meta.drop_reason = reason;
    }
    action punt_to_cpu(PuntReason reason) {
        meta.punt_reason = reason;
    }
    action notify_sender(Event event) {
        meta.event = event;
        meta.make_cnp = true;
        meta.forward = Forward.VRF;
    }
    // There may be a sender to tell, but this node must not.
    action withhold(Event event, DropReason reason) {
        meta.event = event;
        meta.drop_reason = reason;
    }
    action route_in_vrf() {
        meta.forward = Forward.VRF;
    }
    action transit_underlay() {
        meta.forward = Forward.UNDERLAY;
    }
    action refuse_customer_packet() {
        meta.drop_reason = meta.customer_fault;
    }
    action undecided() { }

    @name(".arrival")
    table arrival {
        key = {
            meta.copy: ternary @name("copy");
            meta.role: ternary @name("role");
            meta.is_arp: ternary @name("is_arp");
            meta.is_nd: ternary @name("is_nd");
            meta.is_notification: ternary @name("is_notification");
            meta.is_trusted: ternary @name("is_trusted");
            meta.fast_cnp_sound: ternary @name("fast_cnp_sound");
            meta.parse_failed: ternary @name("parse_failed");
            meta.unsupported_tunnel: ternary @name("unsupported_tunnel");
            hdr.outer_ipv6.isValid(): ternary @name("has_underlay");
            meta.bad_version: ternary @name("bad_version");
            hdr.outer_ipv6.hop_limit: ternary @name("hop_limit");
            meta.is_local: ternary @name("is_local");
            meta.is_end_sid: ternary @name("is_end_sid");
            meta.is_service_sid: ternary @name("is_service_sid");
            hdr.srh.isValid(): ternary @name("has_srh");
            hdr.srh.segments_left: ternary @name("segments_left");
            meta.tunnel_type: ternary @name("tunnel_type");
            meta.is_known_tunnel: ternary @name("is_known_tunnel");
            meta.customer_fault: ternary @name("customer_fault");
            meta.notify_enabled: ternary @name("notify_enabled");
        }
        actions = {
            refuse;
            punt_to_cpu;
            notify_sender;
            withhold;
            route_in_vrf;
            transit_underlay;
            refuse_customer_packet;
            undecided;
        }
        const default_action = undecided;
        // copy, role, arp, nd, notification, trusted, sound, failed, unsupported, underlay, version,
        // hop limit, local, end, service, srh, left, tunnel, known, fault, enabled
        const entries = {
            (Copy.OWN_CONGESTION, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, 0):
                withhold(Event.OWN_CONGESTION, DropReason.FEATURE_DISABLED);
            (Copy.OWN_CONGESTION, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _):
                notify_sender(Event.OWN_CONGESTION);
            (_, Role.NONE, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _): undecided();
            (_, _, true, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _):
                punt_to_cpu(PuntReason.ARP);

            // from a customer
            (_, Role.DC, _, _, true, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.NOTIFICATION_ON_DC_PORT);
            (_, Role.DC, _, _, _, _, _, true, _, _, _, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.MALFORMED);
            (_, Role.DC, _, true, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _):
                punt_to_cpu(PuntReason.ND);
            (_, Role.DC, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, DropReason.NONE, _):
                route_in_vrf();
            (_, Role.DC, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _):
                refuse_customer_packet();

            // from the WAN: no underlay packet
            (_, _, _, _, _, _, _, true, _, false, _, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.MALFORMED);
            (_, _, _, _, _, _, _, _, _, false, _, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.UNSUPPORTED);
            (_, _, _, _, _, _, _, _, _, _, true, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.MALFORMED);

            // a notification for this node
            (_, _, _, _, true, false, _, _, _, _, _, _, true, _, _, _, _, _, _, _, _):
                refuse(DropReason.NOTIFICATION_UNTRUSTED);
            (_, _, _, _, true, _, false, _, _, _, _, _, true, _, _, _, _, _, _, _, _):
                refuse(DropReason.NOTIFICATION_MALFORMED);
            (_, _, _, _, true, _, _, _, _, _, _, _, true, _, _, _, _, _, _, _, 0):
                withhold(Event.FAST_CNP_RECEIVED, DropReason.FEATURE_DISABLED);
            (_, _, _, _, true, _, _, _, _, _, _, _, true, _, _, _, _, _, _, _, _):
                notify_sender(Event.FAST_CNP_RECEIVED);

            // a neighbour, the next segment, transit
            (_, _, _, true, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _):
                punt_to_cpu(PuntReason.ND);
            (_, _, _, _, _, _, _, _, _, _, _, 0 &&& 0xfe, _, true, _, _, _, _, _, _, _):
                refuse(DropReason.TTL_EXPIRED);
            (_, _, _, _, _, _, _, _, _, _, _, _, _, true, _, _, _, _, _, _, _): transit_underlay();
            (_, _, _, _, _, _, _, _, _, _, _, 0 &&& 0xfe, false, _, false, _, _, _, _, _, _):
                refuse(DropReason.TTL_EXPIRED);
            (_, _, _, _, _, _, _, _, _, _, _, _, false, _, false, _, _, _, _, _, _):
                transit_underlay();

            // a tunnel that ends here
            (_, _, _, _, _, _, _, _, true, _, _, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.UNSUPPORTED);
            (_, _, _, _, _, _, _, true, _, _, _, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.MALFORMED);
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, true, false, _, _, _, DropReason.NONE, _):
                route_in_vrf();
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, true, _, 0, _, _, DropReason.NONE, _):
                route_in_vrf();
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, true, false, _, _, _, _, _):
                refuse_customer_packet();
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, true, _, 0, _, _, _, _):
                refuse_customer_packet();
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, true, _, _, _, _, _, _):
                refuse(DropReason.SRH_INVALID);
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, TunnelType.NONE, _, _, _):
                punt_to_cpu(PuntReason.UNDERLAY_LOCAL);
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, true, DropReason.NONE, _):
                route_in_vrf();
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, true, _, _):
                refuse_customer_packet();
            (_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _):
                refuse(DropReason.UNKNOWN_TUNNEL);
        }
    }

    action next_hop() {
        hdr.outer_ipv6.hop_limit = hdr.outer_ipv6.hop_limit - 1;
    }

    apply {
        arrival.apply();
        if (meta.forward == Forward.UNDERLAY) {
            next_hop();
        }
    }
}

#endif
