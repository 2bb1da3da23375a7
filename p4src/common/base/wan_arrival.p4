#ifndef FCN_WAN_ARRIVAL_P4
#define FCN_WAN_ARRIVAL_P4

// WanArrival: what is done with a packet from a core port that is not for a service of this node.
// Reads:  meta.is_malformed, meta.role, meta.is_arp, meta.is_nd, meta.destination; underlay header.
// Writes: meta.forward, meta.punt_reason, meta.drop_reason; hop limit.
// When:   every packet of a P; on a PE, packets of class WAN.
control WanArrival(inout ipv6_h outer_ipv6, inout base_meta_t meta) {
    action refuse(DropReason reason) {
        meta.drop_reason = reason;
    }
    action punt_to_cpu(PuntReason reason) {
        meta.punt_reason = reason;
    }
    action transit() {
        meta.forward = Forward.UNDERLAY;
        outer_ipv6.hop_limit = outer_ipv6.hop_limit - 1;
    }

    PLACED(wan_arrival) @name(".wan_arrival")
    table wan_arrival {
        key = {
            meta.is_malformed: ternary @name("is_malformed");
            meta.role: ternary @name("role");
            meta.is_arp: ternary @name("is_arp");
            outer_ipv6.isValid(): ternary @name("has_underlay");
            meta.is_nd: ternary @name("is_nd");
            meta.destination: ternary @name("destination");
            outer_ipv6.hop_limit: ternary @name("hop_limit");
        }
        actions = {
            refuse;
            punt_to_cpu;
            transit;
        }
        const default_action = transit;
        const entries = {
            (true, _, _, _, _, _, _): refuse(DropReason.MALFORMED);
            (_, Role.DC, _, _, _, _, _): refuse(DropReason.UNSUPPORTED);
            (_, _, true, _, _, _, _): punt_to_cpu(PuntReason.ARP);
            (_, _, _, false, _, _, _): refuse(DropReason.UNSUPPORTED);
            (_, _, _, _, true, _, _): punt_to_cpu(PuntReason.ND);
            (_, _, _, _, _, Destination.NODE, _): punt_to_cpu(PuntReason.UNDERLAY_LOCAL);
            (_, _, _, _, _, _, 0 &&& 0xfe): refuse(DropReason.TTL_EXPIRED);
        }
    }

    apply {
        wan_arrival.apply();
    }
}

#endif
